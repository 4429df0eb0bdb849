// A search runs once for an address, not with each look: it may read 5,000 tasks. Its further pages come by a button.

import { Refused, call, inPath } from "./api.js";
import { button, element, setText } from "./dom.js";
import { formatInstant } from "./format.js";
import { toQuery } from "./task-filters.js";

/** The line that says how far a search looked, with its button. `show(tasks)` draws the tasks. */
export function makeTaskSearch(show) {
  let asked = null;
  let found = [];
  let cursor = null;
  let lookedAt = 0;
  const says = element("span");
  const more = button("Go on", "look at the next tasks", () => void goOn());
  const node = element("p", { class: "looked", role: "status" }, says, " ", more);
  node.hidden = true;

  const ask = async (of) => {
    const query = toQuery(of.filters);
    query.set("state", of.states.join(","));
    query.set("max", String(of.max));
    if (cursor !== null) query.set("cursor", cursor);
    const page = await call(`definitions/${inPath(of.name)}/tasks?${query}`);
    if (asked !== of) return;
    found = [...found, ...page.tasks];
    cursor = page.cursor;
    lookedAt += page.lookedAt;
    node.hidden = false;
    more.hidden = cursor === null;
    setText(says, describe(lookedAt, found.length, page.stoppedAt));
    show(found);
  };
  const goOn = async () => {
    more.disabled = true;
    try {
      await ask(asked);
    } catch (error) {
      setText(says, `The API refused: ${error.message}.`);
    } finally {
      more.disabled = false;
    }
  };
  /** Throws what the API says against the filters; they aren't asked again. */
  const run = async (wanted) => {
    if (asked?.key === wanted.key) return;
    asked = wanted;
    [found, cursor, lookedAt] = [[], null, 0];
    node.hidden = false;
    more.hidden = true;
    setText(says, "Looking ..");
    show([], true);
    try {
      await ask(wanted);
    } catch (error) {
      // A key that is wanted, or no connection: the page tells it and asks later.
      if (!(error instanceof Refused && error.status < 500)) {
        asked = null;
        throw error;
      }
      setText(says, `The API refused: ${error.message}.`);
    }
  };
  // A change of this page's may have moved the tasks: the next look asks anew.
  window.addEventListener("taskgate-changed", () => (asked = null));
  const end = () => {
    asked = null;
    node.hidden = true;
  };
  return { node, run, end };
}

function describe(lookedAt, count, stoppedAt) {
  const tasks = lookedAt === 1 ? "task" : "tasks";
  const looked = `Found ${count.toLocaleString("en")}, looked at ${lookedAt.toLocaleString("en")} ${tasks}`;
  if (stoppedAt === null) return `${looked}: all of them.`;
  const { state, task, at } = stoppedAt;
  const instant = at === null ? "" : `, ${formatInstant(at)}`;
  const place = task === null ? "" : ` behind task ${task}${instant}`;
  return `${looked}, and stopped in ${state}${place}.`;
}
