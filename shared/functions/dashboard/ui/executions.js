// Executions (workers at work for one definition), and the hosts that they run on.

import { call } from "./api.js";
import { badge, element, makeTable, redraw, section } from "./dom.js";
import { makeFilterForm } from "./fields.js";
import { formatDuration, sayInstant } from "./format.js";
import { makePlace, placeOf } from "./place.js";
import { shownName } from "./shown-limit.js";

const executionsMax = 100;
/** Columns of executions and of their sums. */
const counts = ["tokens", "running", "prefetched"].map((name) => [
  name,
  "number",
  (counted) => counted[name],
]);

export const executions = {
  title: () => "Executions",
  make(main) {
    const hosts = makeHosts();
    const table = makeExecutions();
    const all = element("input", { id: "executions-all", type: "checkbox", role: "switch" });
    const form = makeFilterForm([], {
      more: [element("label", { class: "switch" }, all, "Ended ones, too")],
    });
    all.addEventListener("change", () => {
      window.location.hash = makePlace("executions", { all: all.checked ? "yes" : "" });
    });
    const onHosts = section("Hosts", hosts.node);
    main.append(onHosts, section("Newest first", form, table.node));
    return async ({ query }) => {
      all.checked = query.get("all") === "yes";
      const path = `executions?open=${String(!all.checked)}&max=${executionsMax}`;
      const { executions: found, more } = await call(path);
      const open = found.filter(({ state }) => state === "live" || state === "dead");
      onHosts.hidden = open.length === 0;
      hosts.fill(groupByHost(open));
      table.fill(found, more);
    };
  },
};

/** `web-1 4711` is process 4711 on web-1; some write `web-1:4711`. */
const hostOf = (worker) => worker.split(/[ :]/, 1)[0];

function groupByHost(executions) {
  const hosts = new Map();
  for (const each of executions) {
    const name = hostOf(each.worker);
    const host = hosts.get(name) ?? {
      name,
      processes: new Set(),
      lost: 0,
      tokens: 0,
      running: 0,
      prefetched: 0,
    };
    host.processes.add(each.worker);
    host.lost += each.state === "dead" ? 1 : 0;
    for (const [count] of counts) host[count] += each[count];
    hosts.set(name, host);
  }
  return [...hosts.values()].toSorted(
    (left, right) => right.lost - left.lost || left.name.localeCompare(right.name),
  );
}

function makeHosts() {
  return makeTable({
    label: "Hosts",
    columns: [
      ["host", "value"],
      ["processes", "number", ({ processes }) => processes.size],
      ...counts,
    ],
    keyOf: ({ name }) => name,
    row:
      (_, [title]) =>
      (host) => {
        redraw(title, [host.name, host.lost], () => [
          host.name,
          ...(host.lost > 0 ? [" ", badge(`${host.lost} lost`, "bad")] : []),
        ]);
      },
    none: ["No host works."],
  });
}

const moods = { live: "good", dead: "bad", reclaimed: "warn", ended: "calm" };
/** What the API calls dead has let its lease run out: its tasks come back. */
const words = { dead: "lost", reclaimed: "lost, tasks taken back" };

function makeExecutions() {
  return makeTable({
    label: "Executions",
    columns: [
      ["worker", "value", ({ worker, execution }) => [worker, `execution ${execution}`]],
      ["definition", "value"],
      ["state", ""],
      ...counts,
      ["lease left", "number", describeLease],
      ["started", "when", ({ startedAt }) => sayInstant(startedAt)],
    ],
    keyOf: ({ execution }) => execution,
    row: ({ definition }, [owner, state]) => {
      owner.append(element("a", { href: placeOf.definition(definition) }, shownName(definition)));
      return (read) => {
        redraw(state, read.state, () => [
          badge(words[read.state] ?? read.state, moods[read.state]),
        ]);
      };
    },
    none: [
      "Nobody works.",
      "A worker starts when tasks are added or due, and ends when there is nothing to do. Ready tasks without a worker for longer than a minute: see the runbook.",
    ],
  });
}

function describeLease({ leaseLeftMs }) {
  if (leaseLeftMs === null) return "-";
  return leaseLeftMs < 0 ? `over for ${formatDuration(-leaseLeftMs)}` : formatDuration(leaseLeftMs);
}
