// Tasks of a definition in one state, and why one of them runs or doesn't.

import { call, inPath } from "./api.js";
import { byId, drawCut, element, formatInstant, keepLines, makeCells, setText } from "./draw.js";

const tasksMax = 50;
/** So many tasks that wait are asked for their group, for one press of a link. */
const groupTasksMax = 25;
/** Where a task that doesn't run stands, in the order in which people ask. */
const waitingStates = ["waiting", "ready", "scheduled"];

/** The query, kept in the address, so that it can be linked and gone back to. */
export async function lookAtTasks(query) {
  const { definitions } = await call("definitions");
  fillDefinitions(definitions);
  if (query.has("why")) return findWaiting(query, definitions);
  const definition = query.get("definition") ?? definitions[0]?.name;
  const state = query.get("state") ?? "ready";
  choose("tasks-definition", definition);
  choose("tasks-state", state);
  await Promise.all([drawTasks(definition, state), explain(query.get("task"))]);
}

function fillDefinitions(definitions) {
  const select = byId("tasks-definition");
  const names = definitions.map(({ name }) => name);
  const isSame =
    names.length === select.options.length &&
    names.every((name, at) => select.options[at].value === name);
  if (!isSame) select.replaceChildren(...names.map((name) => element("option", {}, name)));
}

/** An open choice isn't disturbed. */
function choose(id, value) {
  const select = byId(id);
  if (value !== undefined && document.activeElement !== select) select.value = value;
}

/** The first task of the definition that doesn't run: the address becomes its own. */
async function findWaiting(query, definitions) {
  const name = query.get("definition");
  const counts = definitions.find((definition) => definition.name === name) ?? {};
  const asked = query.get("state");
  const states = asked === null ? waitingStates.filter((state) => counts[state] > 0) : [asked];
  const [state = "ready"] = states;
  const group = query.get("group");
  const max = group === null ? 1 : groupTasksMax;
  const path = `definitions/${inPath(name)}/tasks?state=${inPath(state)}&max=${max}`;
  const { tasks } = await call(path);
  const found = group === null ? tasks[0] : await findInGroup(tasks, group);
  const task = found === undefined ? "" : `&task=${inPath(found.task)}`;
  window.location.replace(`#tasks?definition=${inPath(name)}&state=${inPath(state)}${task}`);
}

/** The API lists tasks by definition; which group one is in stands in its explanation. */
async function findInGroup(tasks, group) {
  for (const task of tasks) {
    const { facts } = await call(`tasks/${inPath(task.task)}`);
    if (facts?.group?.key === group) return task;
  }
  return tasks[0];
}

async function drawTasks(definition, state) {
  const table = byId("task-table");
  const path = `definitions/${inPath(definition)}/tasks?state=${inPath(state)}&max=${tasksMax}`;
  const { tasks, more } = definition === undefined ? { tasks: [] } : await call(path);
  drawCut("tasks-cut", { shown: tasks.length, more });
  keepLines(table.tBodies[0], {
    items: tasks,
    keyOf: ({ task }) => task,
    make: (task) => makeTask(table, { definition, state, task: task.task }),
    none: "There is no such task.",
  });
}

function makeTask(table, { definition, state, task }) {
  const cells = makeCells(table, 7);
  const line = element("tr", {}, ...cells);
  const [title, kind, priority, failed, lost, since, says] = cells;
  const place = `#tasks?definition=${inPath(definition)}&state=${inPath(state)}&task=${inPath(task)}`;
  const link = element("a", { href: place, "aria-label": `explain task ${task}` }, task);
  title.append(link);
  title.classList.add("id");
  says.classList.add("value");
  const fill = (entry) => {
    setText(kind, entry.kind);
    setText(priority, entry.priority);
    setText(failed, entry.failedCount);
    setText(lost, entry.lostCount);
    setText(since, formatInstant(entry.finishedAt ?? entry.claimedAt ?? entry.createdAt));
    const [error = ""] = (entry.error ?? "").split("\n", 1);
    setText(says, error || describeWhere(entry));
  };
  return { line, fill };
}

/** What a claimed task does, and with whom. */
const claimedStates = { running: "running on", prefetched: "prefetched by", lost: "lost by" };

function describeWhere({ state, worker, dueAt }) {
  if (Object.hasOwn(claimedStates, state)) return `${claimedStates[state]} ${worker}`;
  if (worker !== null && worker !== undefined) return worker;
  return dueAt === null || dueAt === undefined ? "-" : `due ${formatInstant(dueAt)}`;
}

async function explain(task) {
  const list = byId("why");
  const input = byId("why-task");
  list.hidden = task === null;
  if (task === null) return;
  if (document.activeElement !== input) input.value = task;
  const reasons = await askWhy(task);
  const text = JSON.stringify(reasons);
  if (list.dataset.text === text) return;
  list.dataset.text = text;
  list.replaceChildren(
    ...reasons.map(({ decides, sentence }) =>
      element("li", { class: decides ? "decides" : "" }, sentence),
    ),
  );
}

/** What the API says of a task that isn't there is an explanation, too. */
async function askWhy(task) {
  try {
    return (await call(`tasks/${inPath(task)}`)).reasons;
  } catch (error) {
    if (error.constructor !== Error) throw error;
    return [{ decides: true, sentence: error.message }];
  }
}

/** Goes where the forms say. */
export function listenToForms() {
  const go = (more) => {
    const query = new window.URLSearchParams({
      definition: byId("tasks-definition").value,
      state: byId("tasks-state").value,
      ...more,
    });
    window.location.hash = `#tasks?${query}`;
  };
  byId("tasks-definition").addEventListener("change", () => go({}));
  byId("tasks-state").addEventListener("change", () => go({}));
  byId("tasks-form").addEventListener("submit", (event) => event.preventDefault());
  byId("why-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const input = byId("why-task");
    input.blur();
    go({ task: input.value.trim() });
  });
}
