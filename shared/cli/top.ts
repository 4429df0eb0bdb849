import { looks } from "../admin/sentences";
import { describeStop } from "../admin/stop-actions";
import type { DefinitionReport } from "../admin/app-actions";
import type { Admin } from "../admin/create-admin";
import type { PaceReport, RunningTask } from "../admin/pace-report";
import { take } from "../admin/read-result";
import { shownName } from "../core/calls-definition";
import { readDefinitionName } from "../admin/requests";
import { optionalNameParameter, report } from "./command";
import type { Command, CommandContext } from "./command";
import { describeWork } from "./status";
import { showLimitInForce } from "../terminal/limit-texts";
import { renderFacts, renderTable, showCount, showDuration } from "../terminal/output";
import { printable } from "../terminal/text-width";
import type { Column } from "../terminal/output";

/** `taskgate top [NAME]` */
export const topCommand: Command = {
  name: "top",
  group: "look",
  parameters: [optionalNameParameter],
  options: {},
  sentence: `${looks.paces}.`,
  details: [
    "OLDEST is how long the ready task that waits longest has been due. /MIN counts tasks that ended well within the last hour, the newest thousand.",
    "SLOW counts tasks that run longer than 99 of 100 of their kind did. Definitions without tasks are left out.",
  ].join("\n"),
  examples: [
    { line: "taskgate top --watch", sentence: "The busy definitions, again every 2 s." },
    {
      line: "taskgate top greet",
      sentence: "Running tasks of one definition, since when and where.",
    },
  ],
  run: async (context) => {
    const [given] = context.args;
    await (given === undefined ? showAll(context) : showOne(context, given));
  },
};

/** A definition with its pace. */
interface Busy {
  readonly definition: DefinitionReport;
  readonly pace: PaceReport;
}

/** Definitions whose pace is read: as many lines as a screen has. */
const shownMax = 40;

async function showAll(context: CommandContext): Promise<void> {
  const admin = context.admin();
  const [status, stop] = await Promise.all([admin.status(), admin.stopState()]);
  const asked = status.definitions.filter(isBusy).sort((a, b) => trouble(b) - trouble(a));
  const rows = await readPaces(admin, asked.slice(0, shownMax));
  const { totals, nextDueMs, expired } = status;
  const result = { totals, nextDueMs, expired, stop, definitions: rows };
  report(context, result, () => {
    const lines = [describeWork(status)];
    if (stop !== null) lines.push(printable(describeStop(stop)));
    const table = renderTable(rows, columns, context.output);
    lines.push("", rows.length === 0 ? "No definition has tasks." : table);
    const left = asked.length - rows.length;
    if (left > 0) lines.push("", `${String(left)} more: \`taskgate status\` shows all.`);
    return lines.join("\n");
  });
}

/** One after the other: a look at a hundred definitions takes one connection. */
async function readPaces(admin: Admin, definitions: readonly DefinitionReport[]): Promise<Busy[]> {
  const rows: Busy[] = [];
  for (const definition of definitions)
    rows.push({ definition, pace: await admin.pace(definition.name, definition) });
  return rows;
}

function isBusy({ ready, scheduled, waiting, claimed, dead, paused }: DefinitionReport): boolean {
  return ready + scheduled + waiting + claimed + dead > 0 || paused;
}

/** Dead tasks and held-up ones first, then running, then waiting ones. */
function trouble(definition: DefinitionReport): number {
  const { dead, ready, waiting, claimed, running, prefetched, paused, limit } = definition;
  const left = ready + waiting;
  const isHeldUp = left > 0 && (paused || limit === 0);
  const lost = claimed - running - prefetched;
  return (dead > 0 ? 8e9 : 0) + (isHeldUp ? 4e9 : 0) + (lost > 0 ? 2e9 : 0) + running * 1e5 + left;
}

const columns: readonly Column<Busy>[] = [
  { title: "definition", value: (row) => shownName(row.definition.name), tone: () => "strong" },
  {
    title: "running",
    value: ({ definition }) => `${String(definition.running)}/${showLimitInForce(definition)}`,
    isNumber: true,
    tone: ({ definition }) => (definition.running > 0 ? "good" : undefined),
  },
  {
    title: "slow",
    value: ({ pace }) => String(slowOf(pace).length),
    isNumber: true,
    tone: ({ pace }) => (slowOf(pace).length > 0 ? "bad" : undefined),
  },
  { title: "ready", value: ({ definition }) => showCount(definition.ready), isNumber: true },
  {
    title: "waiting",
    value: ({ definition }) => showCount(definition.waiting),
    isNumber: true,
    isSpare: true,
  },
  { title: "oldest", value: ({ pace }) => ageOf(pace), isNumber: true },
  { title: "/min", value: ({ pace }) => speedOf(pace), isNumber: true },
  {
    title: "dead",
    value: ({ definition }) => showCount(definition.dead),
    isNumber: true,
    tone: ({ definition }) => (definition.dead > 0 ? "bad" : undefined),
  },
  { title: "left", value: ({ pace }) => leftOf(pace), wraps: true, tone: () => "accent" },
];

function slowOf(pace: PaceReport): RunningTask[] {
  return pace.running.filter(({ isSlow }) => isSlow);
}

function ageOf({ oldestReady }: PaceReport): string {
  return oldestReady === null ? "-" : showDuration(oldestReady.ageMs);
}

function speedOf({ ended }: PaceReport): string {
  return ended === null ? "-" : String(ended.perMinute);
}

function leftOf({ estimatedLeftMs, heldUpBy }: PaceReport): string {
  if (estimatedLeftMs === 0) return "-";
  return estimatedLeftMs === null ? `unknown: ${heldUpBy ?? ""}` : showDuration(estimatedLeftMs);
}

async function showOne(context: CommandContext, given: string): Promise<void> {
  const name = take(readDefinitionName(given));
  const pace = await context.admin().pace(name);
  report(context, pace, () => {
    const { oldestReady } = pace;
    const facts = [
      ["definition", name],
      ["oldest ready task", oldestReady === null ? "-" : `${oldestReady.task}, ${ageOf(pace)} old`],
      ["ended well a minute", speedOf(pace)],
      ["time left", leftOf(pace)],
      ...pace.kinds.map(
        ({ kind, p50Ms, p99Ms }) =>
          [
            `usual time of ${kind}`,
            `${showDuration(p50Ms)}, at most ${showDuration(p99Ms)} for 99 in 100`,
          ] as const,
      ),
    ] as const;
    const running =
      pace.running.length === 0
        ? "No task runs."
        : renderTable(pace.running, runningColumns, context.output);
    return [renderFacts(facts, context.output.columns), "", running].join("\n");
  });
}

const runningColumns: readonly Column<RunningTask>[] = [
  { title: "task", value: (row) => row.task, isNumber: true },
  { title: "kind", value: (row) => row.kind },
  {
    title: "state",
    value: (row) => (row.isSlow ? "slow" : row.state),
    tone: (row) => (row.isSlow || row.state === "lost" ? "bad" : undefined),
  },
  { title: "since", value: (row) => showDuration(row.sinceMs), isNumber: true },
  { title: "worker", value: (row) => row.worker ?? "-" },
];
