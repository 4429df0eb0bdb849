import { figureOf } from "./results";
import type { Entry, Results, ScenarioResult } from "./results";
import { nothingKeptLabel } from "./variant";
import type { ScenarioName } from "./scenario-names";

/** A goal and what a run says of it. */
export interface Goal {
  readonly text: string;
  readonly wanted: string;
  /** null: the run hasn't measured it. */
  readonly got: string | null;
  readonly isMet: boolean | null;
}

/** Which entries ours is compared with: the best of them counts. */
type Rivals = (entry: Entry) => boolean;

const own = "taskgate";
const bareSql = "bare-sql";
const ownNothingKept = `${own}, ${nothingKeptLabel}`;
/** One that breaks the limit does another thing. */
const holds = (entry: Entry): boolean => (figureOf(entry, "violations")?.max ?? 0) === 0;
const noPeers: readonly string[] = [own, "bare", bareSql];
const isPeer: Rivals = (entry) => !noPeers.includes(entry.system) && holds(entry);
const isOnPostgres: Rivals = (entry) => isPeer(entry) && entry.system !== "bullmq";
const isGraphile: Rivals = ({ system }) => system === "graphile-worker";
/** As many connections as ours: one that works, one that listens. */
const isGraphileOnTwo: Rivals = ({ label }) => label === "graphile-worker, 2 connections";
const isPgBoss: Rivals = ({ system }) => system === "pg-boss";

interface Ratio {
  readonly scenario: ScenarioName;
  readonly text: string;
  readonly rivals: Rivals;
  readonly times: number;
}

const ratios: readonly Ratio[] = [
  {
    scenario: "drain-1",
    text: "batched drain, one process, to the best peer",
    rivals: isPeer,
    times: 4,
  },
  {
    scenario: "drain-4",
    text: "batched drain, four processes, to the best peer",
    rivals: isPeer,
    times: 2.5,
  },
  {
    scenario: "in-flight-8",
    text: "8 in flight, to graphile-worker on as many connections",
    rivals: isGraphileOnTwo,
    times: 4,
  },
  {
    scenario: "in-flight-8",
    text: "8 in flight, to graphile-worker at its best",
    rivals: isGraphile,
    times: 3,
  },
  {
    scenario: "ahead-8",
    text: "8 at once, claiming ahead, to graphile-worker at its best",
    rivals: isGraphile,
    times: 3,
  },
  { scenario: "in-flight-8", text: "8 in flight, to pg-boss", rivals: isPgBoss, times: 6 },
  { scenario: "in-flight-1", text: "one in flight, to the best peer", rivals: isPeer, times: 1.5 },
  { scenario: "bulk-enqueue", text: "bulk enqueue, to the best peer", rivals: isPeer, times: 2 },
];

const idealShare = 0.97;

/** All goals, in their order. */
export function goalsOf({ scenarios }: Results): Goal[] {
  const byName = new Map(scenarios.map((scenario) => [scenario.name, scenario]));
  return [
    ...ratios.map((ratio) => ratioGoal(ratio, byName.get(ratio.scenario))),
    ...limitGoals(4, byName.get("limit-4")),
    ...limitGoals(16, byName.get("limit-16")),
  ];
}

/** How many times as good as the best of the rivals ours is, in one of its set-ups; null: one of them wasn't measured. */
export function ratioTo(
  scenario: ScenarioResult | undefined,
  rivals: Rivals,
  ours = own,
): number | null {
  const figure = scenario?.figures[0];
  if (scenario === undefined || figure === undefined) return null;
  const measured = figureOf(
    scenario.entries.find(({ label }) => label === ours),
    figure.name,
  );
  const theirs = scenario.entries
    .filter(rivals)
    .flatMap((entry) => figureOf(entry, figure.name)?.median ?? []);
  if (measured === null || theirs.length === 0) return null;
  return figure.better === "less"
    ? Math.min(...theirs) / measured.median
    : measured.median / Math.max(...theirs);
}

/** To the best of all peers, and to the best of those that have their tasks in PostgreSQL: keeping done tasks, and not. */
export function ratiosToBest(
  scenario: ScenarioResult,
): Readonly<Record<"all" | "sql" | "sqlNothingKept", number | null>> {
  return {
    all: ratioTo(scenario, isPeer),
    sql: ratioTo(scenario, isOnPostgres),
    sqlNothingKept: ratioTo(scenario, isOnPostgres, ownNothingKept),
  };
}

function ratioGoal({ text, rivals, times }: Ratio, scenario: ScenarioResult | undefined): Goal {
  const ratio = ratioTo(scenario, rivals);
  const beside = [
    { title: "with nothing kept", other: ratioTo(scenario, rivals, ownNothingKept) },
    { title: "by bare SQL", other: ratioTo(scenario, rivals, bareSql) },
  ].flatMap(({ title, other }) => (other === null ? [] : [`${other.toFixed(2)} ${title}`]));
  const besides = beside.length === 0 ? "" : ` (${beside.join(", ")})`;
  return {
    text,
    wanted: `${times} times`,
    got: ratio === null ? null : `${ratio.toFixed(2)} times${besides}`,
    isMet: ratio === null ? null : ratio >= times,
  };
}

function limitGoals(limit: number, scenario: ScenarioResult | undefined): Goal[] {
  const entry = scenario?.entries.find(({ system }) => system === own);
  const bare = scenario?.entries.find(({ system }) => system === "bare");
  const ours = (name: string): number | null => figureOf(entry, name)?.median ?? null;
  const ideal = figureOf(bare, "rate")?.median ?? null;
  const commit = figureOf(bare, "commit")?.median ?? null;
  const rate = ours("rate");
  const share = rate === null || ideal === null ? null : rate / ideal;
  // No round may have one.
  const violations = figureOf(entry, "violations")?.max ?? null;
  const title = `limit ${limit} over three processes`;
  const most = (text: string, got: number | null, times: number): Goal => ({
    text: `${title}: ${text}`,
    wanted:
      commit === null ? `${times} round trips with a commit` : `${(times * commit).toFixed(2)} ms`,
    got: got === null ? null : `${got.toFixed(2)} ms`,
    isMet: got === null || commit === null ? null : got <= times * commit,
  });
  return [
    {
      text: `${title}: share of the ideal, by tasks`,
      wanted: `${idealShare * 100} %`,
      got: share === null ? null : `${(share * 100).toFixed(1)} %`,
      isMet: share === null ? null : share >= idealShare,
    },
    {
      text: `${title}: violations`,
      wanted: "0",
      got: violations === null ? null : String(violations),
      isMet: violations === null ? null : violations === 0,
    },
    most("a token idles, p50", ours("idleP50"), 1),
    most("a token idles, p99", ours("idleP99"), 2),
  ];
}
