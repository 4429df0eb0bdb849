import { commandWord } from "../core/command-word";
import { showCount } from "../core/counted";
import { messageOf } from "../core/foreign-value";
import type { DefinitionStatus, InvariantFinding, TaskStore } from "../ports/task-store";
import { batchesLookedAt, findHalted } from "./halted-batches";
import type { HaltedBatch } from "./halted-batches";
import { describeStop, readStop } from "./stop-actions";
import type { StopState } from "./stop-actions";
import { askedMax, findUnserved } from "./unserved";

/** Looks for faults. Changes nothing. */

/** A check that only the composition root can make, such as whether the queue answers. */
export interface DoctorProbe {
  readonly check: string;
  /** Answers good states and those that may be intended; throws faults. */
  readonly run: () => Promise<string | { readonly status: "ok" | "note"; readonly text: string }>;
}

/** The outcome of one check. */
export interface DoctorFinding {
  readonly check: string;
  /** broken: act. note: may be meant so. */
  readonly status: "ok" | "note" | "broken";
  readonly text: string;
}

/** All checks; `status` is the worst of them. */
export interface DoctorReport {
  readonly status: "ok" | "note" | "broken";
  readonly findings: readonly DoctorFinding[];
}

/** What the doctor needs. */
export interface DoctorOptions {
  readonly store: TaskStore;
  readonly build: number;
  readonly deep: boolean;
  readonly probes: readonly DoctorProbe[];
}

const findingOf =
  (status: DoctorFinding["status"]) =>
  (check: string, text: string): DoctorFinding => ({ check, status, text });
const [ok, note, broken] = [findingOf("ok"), findingOf("note"), findingOf("broken")];

/** Findings of one kind that are listed. */
const listedMax = 20;
/** Most definitions that one read tells of. */
const sweepMax = 1_000;
/** Runs all checks, one after the other. A database that can't be reached ends them: its error is thrown. */
export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const { store, build, deep, probes } = options;
  const { definitions } = await store.listDefinitions({});
  const { expired } = await store.sweep({ max: sweepMax });
  const { batches } = await store.listBatches({ max: batchesLookedAt });
  const stop = await readStop(options);
  const findings: DoctorFinding[] = [
    ok("database", `The ${store.dialect} database answers, its procedures are there.`),
    ...examineDefinitions({ definitions, expired, build, stop }),
  ];
  const { unserved, notAsked } = await findUnserved(store, definitions);
  for (const { name, text } of unserved) findings.push(note(`definition ${name}`, text));
  if (notAsked > 0)
    findings.push(
      note(
        "definitions",
        `${String(notAsked)} more have ready tasks and no worker at this moment: for how long was looked up of the first ${String(askedMax)} alone. \`taskgate top\` shows the others.`,
      ),
    );
  findings.push(...noteHalted(findHalted(batches)));
  for (const probe of probes) findings.push(await runProbe(probe));
  if (deep) findings.push(...(await checkPromises(store)));
  return diagnose(findings);
}

/** The findings as a report. */
export function diagnose(findings: readonly DoctorFinding[]): DoctorReport {
  return { status: worst(findings), findings };
}

/**
 * What a look at all definitions shows: builds, limits, pauses, dead letters, and `expired` executions. `build`: of the running code; 0: not
 * known. `stop`: in force; null: none is.
 */
export function examineDefinitions({
  definitions,
  expired,
  build,
  stop,
}: {
  readonly definitions: readonly DefinitionStatus[];
  readonly expired: number;
  readonly build: number;
  readonly stop: StopState | null;
}): DoctorFinding[] {
  const stopped = new Set(stop?.definitions);
  return [
    checkDefinitions(definitions, build),
    ...(stop === null ? [] : [note("stop", describeStop(stop))]),
    ...checkBuilds(definitions),
    // Its own resume would take a definition out of the stop.
    ...definitions.flatMap((one) =>
      checkDefinition(stopped.has(one.name) ? { ...one, paused: false } : one),
    ),
    expired === 0
      ? ok("leases", "No execution is past its lease.")
      : note(
          "leases",
          `Executions past their lease: ${String(expired)}; the next sweep takes their tasks back. If the number stays, no sweep runs.`,
        ),
  ];
}

function checkDefinitions(definitions: readonly DefinitionStatus[], build: number): DoctorFinding {
  if (definitions.length === 0) {
    const text = "No definition is registered yet: a worker registers its own at its first run.";
    return note("definitions", text);
  }
  const newest = Math.max(...definitions.map((definition) => definition.build));
  if (build > 0 && newest > build) {
    const text = `Definitions: ${String(definitions.length)}; the newest was registered by build ${String(newest)}, this code is the older build ${String(build)}.`;
    return note("definitions", text);
  }
  return ok("definitions", `Definitions registered: ${String(definitions.length)}.`);
}

/** Two releases of one number each think that the other's settings are the older ones. */
function checkBuilds(definitions: readonly DefinitionStatus[]): DoctorFinding[] {
  const names = definitions.filter(({ build }) => build === 0).map(({ name }) => name);
  if (names.length === 0) return [];
  const more = names.length > listedMax ? ` and ${String(names.length - listedMax)} more` : "";
  const text = `Registered without a build number: ${names.slice(0, listedMax).join(", ")}${more}. In a rollout, releases then overwrite each other's settings in turn. Run \`npx taskgate stamp\` at the end of the app's build, or set TASKGATE_BUILD.`;
  return [note("build numbers", text)];
}

function checkDefinition(definition: DefinitionStatus): DoctorFinding[] {
  const { name, limit, held } = definition;
  const open = definition.ready + definition.waiting + definition.scheduled;
  const texts: string[] = [];
  if (definition.paused)
    texts.push(
      `Paused by an operator; ${open === 1 ? "1 task waits" : `${showCount(open)} tasks wait`}. \`taskgate resume ${commandWord(name)}\` lets them run.`,
    );
  if (limit === 0) texts.push(`Its limit is 0 (${definition.limitSource}): nothing starts.`);
  if (limit !== null && held > limit)
    texts.push(
      `${held === 1 ? "1 token is" : `${String(held)} tokens are`} held, the limit is ${String(limit)}: the rest comes back as tasks end.`,
    );
  if (definition.dead > 0)
    texts.push(
      `Dead letters: ${showCount(definition.dead)}. \`taskgate tasks ${commandWord(name)} --state dead\` lists them.`,
    );
  return texts.map((text) => note(`definition ${name}`, text));
}

/** The findings of halted batches. */
export function noteHalted(halted: readonly HaltedBatch[]): DoctorFinding[] {
  return halted.map(({ batch, text }) => note(`batch ${batch}`, text));
}

async function runProbe(probe: DoctorProbe): Promise<DoctorFinding> {
  try {
    const seen = await probe.run();
    return typeof seen === "string" ? ok(probe.check, seen) : { check: probe.check, ...seen };
  } catch (error) {
    return broken(probe.check, messageOf(error));
  }
}

/** The checks read without locks: a state seen once on a busy database may be a move halfway; seen twice it is a finding. */
async function checkPromises(store: TaskStore): Promise<DoctorFinding[]> {
  const first = await store.checkInvariants();
  const again = first.status === "broken" ? await store.checkInvariants() : first;
  const seen = new Set(again.findings.map(keyOf));
  const lasting = first.findings.filter((candidate) => seen.has(keyOf(candidate)));
  if (lasting.length === 0) {
    const text =
      "Everything that the database promises (limits, single holders, nothing lost, order) holds.";
    return [ok("promises", text)];
  }
  const listed = lasting
    .slice(0, listedMax)
    .map(({ rule, key, detail }) => broken("promises", `${rule} (${key}: ${detail})`));
  const more = lasting.length - listed.length;
  return more === 0 ? listed : [...listed, broken("promises", `${String(more)} findings more.`)];
}

function keyOf(found: InvariantFinding): string {
  return `${found.rule}\n${found.key}`;
}

function worst(findings: readonly DoctorFinding[]): DoctorReport["status"] {
  const has = (status: DoctorFinding["status"]): boolean =>
    findings.some((entry) => entry.status === status);
  return has("broken") ? "broken" : has("note") ? "note" : "ok";
}
