import type { World } from "../../tsql-server/engine/world";
import { runAlone } from "../../tsql-server/schedule/step";
import type { Run, StepReport } from "../../tsql-server/schedule/run";
import type { Call } from "./calls";
import { checkInvariants, namesOf } from "./calls";
import { countHeld, isHeld, statusOf } from "./endings";
import { proceduresOf } from "./model-case";
import type { CaseAnswer, CaseOptions, Ending, ModelCase } from "./model-case";
import { answersOfRun, caseAnswer, requestOf } from "./requests";
import { committedRows, openChanges, plainRow, tablesAsText } from "./table-rows";
import type { OpenChange } from "./table-rows";

/*
 * What must hold in every interleaving of every case: the first six promises, as far as SQL decides them. After each step:
 * no caller waits where it isn't permitted, no circle of waiters, no grant over the limit, no error. At the end:
 * nothing is locked, nothing lost, nothing done twice, and the shipped check of invariants finds nothing.
 */

interface Judged {
  readonly model: ModelCase;
  readonly how: CaseOptions;
  readonly run: Run;
}

export function brokenByStep(judged: Judged, report: StepReport): string | undefined {
  return (
    brokenCircle(judged, report) ??
    brokenWait(judged, report) ??
    brokenAnswer(judged, report) ??
    brokenGrant(judged.model, judged.run)
  );
}

// ---- waits

/** The callers that may die of a circle: none, with row versions. */
function victimsOf({ model, how }: Judged): readonly number[] {
  if (how.hasCircles === true) return [...model.callers.keys()];
  if (how.options.isVersioned || model.victims === undefined) return [];
  // A case says who dies on a server, by what each has written; in that variant another one of the circle does.
  return how.options.victim === "last" ? [...model.callers.keys()] : model.victims;
}

function brokenCircle(judged: Judged, report: StepReport): string | undefined {
  if (report.deadlocks === 0 || victimsOf(judged).length > 0) return undefined;
  return "no waiting: callers wait for each other in a circle";
}

function brokenWait({ model, how, run }: Judged, report: StepReport): string | undefined {
  const { wait } = report;
  if (wait === undefined || !how.checksWaits) return undefined;
  const table = tableOfWait(run, report);
  const { caller } = report.choice;
  const isPermitted = model.waits?.some(
    (permitted) => permitted.table === table && (permitted.by ?? caller) === caller,
  );
  if (isPermitted === true) return undefined;
  if (!how.options.isVersioned && model.readersWait === true && isForReading(run, report))
    return undefined;
  return `no waiting: caller ${String(caller + 1)} waits as the case doesn't permit: ${wait.mode} on ${table} (${wait.resource})`;
}

/** The table on whose key a caller waits; with optimized locking it waits for a transaction because of that key. */
function tableOfWait(run: Run, report: StepReport): string {
  const ask = run.callers[report.choice.caller]?.connection.reply?.ask;
  const resource = ask?.about ?? report.wait?.resource ?? "";
  if (resource.startsWith("APP ")) return "application lock";
  return /Taskgate\.(\w+)/.exec(resource)?.[1] ?? resource;
}

/** A reader waits for a writer, or the other way round: on one side there are shared locks only. */
function isForReading(run: Run, report: StepReport): boolean {
  const { wait } = report;
  if (wait === undefined) return false;
  const isShared = (mode: string | undefined): boolean => mode === "S" || mode === "IS";
  return (
    isShared(wait.mode) ||
    wait.behind.every((session) => isShared(run.world.locks.modeOf(session, wait.resource)))
  );
}

// ---- answers

function brokenAnswer(judged: Judged, report: StepReport): string | undefined {
  const mayDie = victimsOf(judged).includes(report.choice.caller);
  const unexpected = report.ended?.errors.find(
    ({ number }) => judged.model.errors?.includes(number) !== true && !(mayDie && number === 1205),
  );
  return unexpected === undefined
    ? undefined
    : `error ${String(unexpected.number)}: ${unexpected.message}`;
}

// ---- tokens

/** The limit: a change that makes more tokens held than before stays within the limit in force then. */
function brokenGrant(model: ModelCase, run: Run): string | undefined {
  // A definition that begins to share a limit brings those who run: that is no grant.
  const isLinking = proceduresOf(model).includes("RegisterDefinition");
  const grants = [...grantsOfDefinitions(run.world), ...(isLinking ? [] : grantsOfShared(run))];
  for (const { before, after, was, held } of grants) {
    const limit = limitOf(after);
    // An execution that ran without a limit is counted when there is one: that is no grant.
    const isCounted = before !== undefined && limitOf(before) === -1;
    if (limit >= 0 && held > was && held > limit && !isCounted) {
      return `limit: a grant makes ${String(held)} of ${String(limit)} tokens held`;
    }
  }
  return undefined;
}

/** A limit's row before and after a change that isn't committed, and how many of its tokens are held. */
interface Grant {
  readonly before: OpenChange["before"];
  readonly after: NonNullable<OpenChange["after"]>;
  readonly was: number;
  readonly held: number;
}

function limitOf(row: NonNullable<OpenChange["after"]>): number {
  return Number(row["ConcurrencyLimitOverride"] ?? row["ConcurrencyLimit"]);
}

function grantsOfShared(run: Run): Grant[] {
  const heldIn = (row: OpenChange["before"]): number => countHeld(String(row?.["ExecutionTokens"]));
  return openChanges(run.world, "SharedLimit").flatMap(({ before, after }) =>
    after === undefined ? [] : [{ before, after, was: heldIn(before), held: heldIn(after) }],
  );
}

/** By the rows of their tokens: a definition's own row need not have changed yet. */
function grantsOfDefinitions(world: World): Grant[] {
  const moved = openChanges(world, "Token");
  if (moved.length === 0) return [];
  const changed = openChanges(world, "TaskDefinition");
  return committedRows(world, "TaskDefinition").map((after) => {
    const isOwn = (row: OpenChange["after"]): boolean =>
      isHeld(row) && row?.["TaskDefinitionId"] === after["TaskDefinitionId"];
    const held = committedRows(world, "Token").filter(isOwn).length;
    const more =
      moved.filter((one) => isOwn(one.after)).length -
      moved.filter((one) => isOwn(one.before)).length;
    const own = changed.find(
      (one) => one.after?.["TaskDefinitionId"] === after["TaskDefinitionId"],
    );
    return { before: own?.before, after, was: held - more, held };
  });
}

// ---- the end

export function brokenAtEnd(
  judged: Judged & { readonly setup: readonly CaseAnswer[] },
): string | undefined {
  const { model, how, run, setup } = judged;
  const answers = answersOfRun(model, run);
  const end = endingOf(how, run.world, answers);
  return (
    brokenQuiet(run) ??
    brokenClaims(answers) ??
    brokenTasks(end, [...setup, ...answers.flat()]) ??
    brokenInvariants(run) ??
    // Who died of a circle has done nothing.
    (hasDied(answers) ? undefined : model.ends?.(endOnPlan(judged, end)))
  );
}

function endingOf(
  { engine }: CaseOptions,
  world: World,
  answers: readonly (readonly CaseAnswer[])[],
): Ending {
  return { answers, engine, rows: (table) => committedRows(world, table) };
}

/** On another plan than the rule's: behind the next round of those callers that come again. */
function endOnPlan({ model, how, run }: Judged, end: Ending): Ending {
  if (model.comesAgain === undefined || how.options.forcedPaths.size === 0) return end;
  const world = run.world.fork();
  const connection = world.connect();
  const answers = end.answers.map((own) => [...own]);
  for (const place of model.comesAgain)
    for (const step of model.callers[place] ?? []) {
      if (step.kind === "dependent") throw new Error(`${model.name}: what depends comes again`);
      answers[place]?.push(caseAnswer(step, runAlone(connection, requestOf(step))));
    }
  return endingOf(how, world, answers);
}

function hasDied(answers: Ending["answers"]): boolean {
  return answers.flat().some(({ errors }) => errors.includes(1205));
}

/** Everything is given back: no lock, no open transaction. */
export function brokenQuiet(run: Run): string | undefined {
  const [held] = run.world.locks.describe();
  if (held !== undefined) return `a lock is left: ${held}`;
  const open = run.callers.find(({ connection }) => connection.transactionCount > 0);
  return open === undefined ? undefined : `the transaction of ${open.name} is left open`;
}

/** One holder: two claims of a task never carry the same fence, and never come from one answer given twice to two callers. */
function brokenClaims(answers: readonly (readonly CaseAnswer[])[]): string | undefined {
  const claims = new Set<string>();
  for (const answer of answers.flat()) {
    if (statusOf(answer) !== "claimed") continue;
    const row = answer.rows[0] ?? {};
    for (const task of String(row["TaskIds"]).split(",")) {
      const claim = `task ${task} under fence ${String(row["Fence"])}`;
      if (claims.has(claim)) return `one holder: ${claim} is claimed twice`;
      claims.add(claim);
    }
  }
  return undefined;
}

/** Nothing lost: a task of an answered enqueue is there or has ended, and none has ended twice. */
function brokenTasks(end: Ending, answers: readonly CaseAnswer[]): string | undefined {
  const ended = endedTasks(answers);
  const twice = ended.find((task, place) => ended.indexOf(task) !== place);
  if (twice !== undefined) return `nothing lost: task ${String(twice)} has ended twice`;
  const known = new Set(
    [...end.rows("Task"), ...end.rows("Archive")].map((row) => Number(row["TaskId"])),
  );
  const lost = enqueuedTasks(answers).find((task) => !known.has(task) && !ended.includes(task));
  return lost === undefined ? undefined : `nothing lost: task ${String(lost)} is lost`;
}

function enqueuedTasks(answers: readonly CaseAnswer[]): number[] {
  return answers.flatMap((answer) =>
    !isUndone(answer.call) &&
    answer.errors.length === 0 &&
    answer.rows[0]?.["Status"] === "enqueued"
      ? (JSON.parse(String(answer.rows[0]["TaskIds"])) as string[]).map(Number)
      : [],
  );
}

function isUndone(call: Call): boolean {
  return call.kind === "batch" && call.isUndone === true;
}

/** Tasks whose end was accepted, once for each acceptance; an answer given again isn't one. */
function endedTasks(answers: readonly CaseAnswer[]): number[] {
  return answers.flatMap((answer) => {
    const [name] = namesOf(answer.call);
    if (answer.errors.length > 0 || answer.call.kind !== "procedure") return [];
    if (name === "Work") return endedByWork(answer);
    if (name === "CompleteTask") {
      return statusOf(answer) === "done" ? [Number(answer.call.arguments["TaskId"])] : [];
    }
    return name === "FailTasks" ? endedByFailure(answer) : [];
  });
}

function endedByWork(answer: CaseAnswer): number[] {
  if (answer.call.kind !== "procedure") return [];
  if (["again", "fenced", "ended"].includes(statusOf(answer))) return [];
  const told = JSON.parse(String(answer.call.arguments["DoneTaskIds"] ?? "[]")) as string[];
  const refused = String(answer.rows[0]?.["RefusedTaskIds"] ?? "").split(",");
  return told.filter((task) => !refused.includes(task)).map(Number);
}

function endedByFailure(answer: CaseAnswer): number[] {
  const results = JSON.parse(String(answer.rows[0]?.["Results"] ?? "[]")) as {
    task: string;
    outcome: string;
  }[];
  return results
    .filter(({ outcome }) => outcome === "dead" || outcome === "cancelled")
    .map(({ task }) => Number(task));
}

/** Verdicts of the shipped check by what the tables hold: many ends are the same. */
const verdicts = new Map<string, string | undefined>();

export function brokenInvariants(run: Run): string | undefined {
  const key = tablesAsText(run.world);
  if (!verdicts.has(key)) verdicts.set(key, invariantsOf(run));
  return verdicts.get(key);
}

function invariantsOf(run: Run): string | undefined {
  const connection = run.world.connect();
  const [row] = runAlone(connection, requestOf(checkInvariants)).objects().map(plainRow);
  run.world.forget(connection);
  return row?.["Status"] === "sound"
    ? undefined
    : `the check of invariants finds ${String(row?.["Findings"])}`;
}
