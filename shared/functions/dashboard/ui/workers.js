// Executions (workers at work for one definition), and the hosts that they run on.

import { call } from "./api.js";
import { badge, element, makeTable, redraw, section, setText } from "./dom.js";
import { makeFilterForm } from "./fields.js";
import { formatDistance, formatDuration, formatInstant } from "./format.js";
import { makePlace, placeOf } from "./place.js";

const executionsMax = 100;

export const workers = {
  title: () => "Workers",
  make(main) {
    const hosts = makeHosts();
    const executions = makeExecutions();
    const all = element("input", { id: "workers-all", type: "checkbox", role: "switch" });
    const form = makeFilterForm([], {
      more: [element("label", { class: "switch" }, all, "Ended ones, too")],
    });
    all.addEventListener("change", () => {
      window.location.hash = makePlace("workers", { all: all.checked ? "yes" : "" });
    });
    const onHosts = section("Hosts", hosts.node);
    main.append(onHosts, section("Executions, newest first", form, executions.node));
    return async ({ query }) => {
      all.checked = query.get("all") === "yes";
      const path = `executions?open=${String(!all.checked)}&max=${executionsMax}`;
      const { executions: found, more } = await call(path);
      const open = found.filter(({ state }) => state === "live" || state === "dead");
      onHosts.hidden = open.length === 0;
      hosts.fill(groupByHost(open));
      executions.fill(found, more);
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
    for (const count of ["tokens", "running", "prefetched"]) host[count] += each[count];
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
      ["processes", "number"],
      ["tokens", "number"],
      ["running", "number"],
      ["prefetched", "number"],
    ],
    keyOf: ({ name }) => name,
    row:
      (_, [title, processes, ...numbers]) =>
      (host) => {
        redraw(title, [host.name, host.lost], () => [
          host.name,
          ...(host.lost > 0 ? [" ", badge(`${host.lost} lost`, "bad")] : []),
        ]);
        setText(processes, host.processes.size);
        ["tokens", "running", "prefetched"].forEach((name, at) => setText(numbers[at], host[name]));
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
      ["worker", "value"],
      ["definition", "value"],
      ["state", ""],
      ["tokens", "number"],
      ["running", "number"],
      ["prefetched", "number"],
      ["lease left", "number"],
      ["started", "when"],
    ],
    keyOf: ({ execution }) => execution,
    row: (execution, [worker, owner, state, tokens, running, prefetched, lease, started]) => {
      setText(worker, execution.worker);
      worker.title = `execution ${execution.execution}`;
      owner.append(
        element("a", { href: placeOf.definition(execution.definition) }, execution.definition),
      );
      return (read) => {
        redraw(state, read.state, () => [
          badge(words[read.state] ?? read.state, moods[read.state]),
        ]);
        setText(tokens, read.tokens);
        setText(running, read.running);
        setText(prefetched, read.prefetched);
        setText(lease, describeLease(read));
        setText(started, formatInstant(read.startedAt));
        started.title = formatDistance(read.startedAt);
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
