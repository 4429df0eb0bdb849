// Tasks of a definition: those of one state, or those that a search finds.

import { call, inPath } from "./api.js";
import { cancelAll, redriveAll, rescheduleAll } from "./bulk-actions.js";
import { element, makeTable, section } from "./dom.js";
import { fillSelect, makeFilterForm, makeSelect } from "./fields.js";
import { firstLine, sayInstant } from "./format.js";
import { isPast, makePlace, placeOf } from "./place.js";
import { makeSelection } from "./selection.js";
import { makeFilters, readFilters } from "./task-filters.js";
import { makeTaskSearch } from "./task-search.js";

const tasksMax = 50;
/** So many tasks that wait are asked for their group, for one press of a link. */
const groupTasksMax = 25;

/** States by what the page calls them. */
const states = [
  ["ready", "ready"],
  ["claimed", "running and prefetched"],
  ["scheduled", "scheduled"],
  ["waiting", "waiting for a group"],
  ["dead", "dead"],
  ["done", "done"],
  ["cancelled", "cancelled"],
];
/** Of a search: the state that isn't one. */
const anyState = "any";

/** The member and the title of the column of instants. */
const sinceOf = {
  ready: ["dueAt", "ready since"],
  waiting: ["createdAt", "created"],
  scheduled: ["dueAt", "due"],
  claimed: ["claimedAt", "claimed"],
  dead: ["endedAt", "ended"],
  done: ["endedAt", "ended"],
  cancelled: ["endedAt", "ended"],
};

export const tasks = {
  title: () => "Tasks",
  make(main) {
    const names = element("select", { id: "tasks-definition" });
    const anyOption = [anyState, "any, of a search"];
    const state = makeSelect({ id: "tasks-state" }, [...states, anyOption]);
    let filters = {};
    const form = makeFilterForm([
      ["Definition", names],
      ["State", state],
    ]);
    const list = element("div");
    const go = () => {
      const place = { definition: names.value, state: state.value, ...filters };
      window.location.hash = makePlace("tasks", place);
    };
    const finder = makeFilters((given) => {
      const begins = Object.keys(filters).length === 0;
      filters = given;
      if (begins && Object.keys(given).length > 0) state.value = anyState;
      go();
    });
    const finding = makeTaskSearch((found, isLooking) => {
      table.table.hidden = isLooking === true;
      table.fill(found, false);
    });
    main.append(section("One definition's tasks", form, finder.node, finding.node, list));
    names.addEventListener("change", go);
    state.addEventListener("change", go);
    let table;
    let tableOf;
    return async ({ query }) => {
      // An address of an earlier dashboard.
      if (query.has("task")) {
        window.location.replace(placeOf.task(query.get("task")));
        return;
      }
      const { definitions } = await call("definitions");
      if (isPast(query)) return;
      fillSelect(
        names,
        definitions.map((each) => [each.name, each.name]),
      );
      const name = query.get("definition") ?? pickName(definitions);
      filters = readFilters(query);
      const isSearch = Object.keys(filters).length > 0;
      const given = query.get("state") ?? (isSearch ? anyState : "ready");
      const asked = given === anyState && !isSearch ? "ready" : given;
      finder.fill(filters);
      choose(names, name);
      choose(state, asked);
      if (query.has("group") && (await goToGroup(name, query.get("group")))) return;
      const wanted = JSON.stringify([name, asked, filters]);
      if (tableOf !== wanted) {
        table = makeTasks(asked, isSearch);
        tableOf = wanted;
        list.replaceChildren(table.node);
      }
      if (isSearch && name !== undefined) {
        const of = asked === anyState ? states.map(([value]) => value) : [asked];
        await finding.run({ key: wanted, name, states: of, filters, max: tasksMax });
        return;
      }
      finding.end();
      await fillTasks(table, name, asked);
    };
  },
};

/** The one with the most to be seen. */
function pickName(definitions) {
  const [first] = definitions.toSorted((left, right) => right.ready - left.ready);
  return first?.name;
}

/** An open choice isn't disturbed. */
function choose(select, value) {
  if (value !== undefined && document.activeElement !== select) select.value = value;
}

/** The first waiting task of a group: which group a task is in stands in its explanation alone. */
async function goToGroup(name, group) {
  const path = `definitions/${inPath(name)}/tasks?state=waiting&max=${groupTasksMax}`;
  const { tasks: waiting } = await call(path);
  for (const { task } of waiting) {
    const { facts } = await call(`tasks/${inPath(task)}`);
    if (facts?.group?.key !== group) continue;
    window.location.replace(placeOf.task(task));
    return true;
  }
  return false;
}

/** What can be done with tasks of a state. */
const doable = {
  ready: ["reschedule", "cancel"],
  claimed: ["cancel"],
  scheduled: ["reschedule", "cancel"],
  waiting: ["reschedule", "cancel"],
  dead: ["redrive"],
  cancelled: ["redrive"],
};

/** The bar over a list; null: nothing can be done with such tasks. */
function makeBar(state) {
  const acts = {
    cancel: { text: "Cancel ..", act: cancelAll, className: "danger" },
    redrive: { text: "Redrive ..", act: redriveAll, className: "primary" },
    reschedule: { text: "Reschedule ..", act: rescheduleAll },
  };
  const names = doable[state] ?? [];
  if (names.length === 0) return null;
  const bar = makeSelection({
    noun: "task",
    actions: names.map((name) => ({
      ...acts[name],
      label: `${name} the selected tasks`,
      act: (items) =>
        void acts[name].act(
          items.map(({ key }) => key),
          () => bar.clear(),
        ),
    })),
  });
  return bar;
}

const toItem = ({ task }) => ({ key: task, name: `task ${task}` });

function makeTasks(state, isSearch) {
  const bar = makeBar(state);
  const isAny = state === anyState;
  const isOver = state === "dead" || state === "cancelled";
  const [member, since] = sinceOf[state] ?? ["createdAt", "created"];
  const table = makeTable({
    label: isAny ? "Tasks that were found" : `Tasks, ${state}`,
    columns: [
      ["task", "id"],
      isAny ? ["state", "value", (entry) => entry.state] : ["kind", "value", ({ kind }) => kind],
      [since, "when", (entry) => sayInstant(entry[member] ?? entry.createdAt)],
      ["priority", "number", ({ priority }) => priority],
      ["failed", "number", ({ failedCount }) => failedCount],
      ["lost", "number", ({ lostCount }) => lostCount],
      [isOver ? "error" : "worker, or last error", "value wide", describeEntry],
    ],
    keyOf: ({ task }) => task,
    row: ({ task }, [id]) => {
      if (bar !== null) id.append(bar.box(toItem({ task })), " ");
      id.append(element("a", { href: placeOf.task(task) }, task));
    },
    none: isSearch
      ? ["No such task was found.", ...searchHint()]
      : ["No task of this definition is in this state.", ...hintOf(state)],
  });
  const fill = (items, more) => {
    table.fill(items, more);
    bar?.fill(items.map(toItem));
  };
  const node = element("div", {}, bar?.node ?? null, table.node);
  return { node, table: table.node, fill };
}

const searchHint = () => [
  "Keys, groups and values are compared whole, case and blanks too. Payload takes a path and a value, such as ",
  element("code", {}, "customer.id=42"),
  ". Done tasks name no group, and no unfinished task has ended.",
];

/** What would put a task here. */
const hints = {
  claimed:
    "A worker that starts takes ready tasks: they are running, or prefetched for its next free token.",
  scheduled: "Tasks with a later time, and failed ones before their next attempt, stand here.",
  waiting: "Tasks whose group has no free slot stand here, in the order of the group.",
  dead: "Tasks that have used up their attempts stand here, until they are redriven or their retention is over.",
  done: "Tasks that have ended well stand here until their retention is over.",
  cancelled: "Tasks that an operator or their own code has ended stand here. They can be redriven.",
};

function hintOf(state) {
  if (Object.hasOwn(hints, state)) return [hints[state]];
  const command = element("code", {}, "taskgate enqueue NAME --payload '{..}'");
  const route = element("code", {}, "POST definitions/NAME/tasks");
  return ["Add one from your code, with ", command, ", or by ", route, "."];
}

async function fillTasks(table, name, state) {
  const path = `definitions/${inPath(name)}/tasks?state=${inPath(state)}&max=${tasksMax}`;
  const { tasks: found, more } = name === undefined ? { tasks: [], more: false } : await call(path);
  table.fill(found, more);
}

const describeEntry = (entry) => firstLine(entry.error ?? "") || describeWhere(entry);

/** What a claimed task does, and with whom. */
const claimedStates = { running: "running on", prefetched: "prefetched by", lost: "lost by" };

function describeWhere({ state, worker }) {
  if (Object.hasOwn(claimedStates, state)) return `${claimedStates[state]} ${worker}`;
  return worker ?? "-";
}
