import type { Admin } from "../admin/create-admin";
import type { DoctorFinding } from "../admin/doctor";
import { sleep } from "../platform/real-clock";

/** Names of the built-in kinds that do nothing begin so. */
const probePrefix = "taskgate-probe";
const check = "latency";
/** Tasks of one measurement; each waits for the one before. */
const count = 5;
/** The longest wait for one of them: an app that begins from zero takes some seconds. */
const patienceMs = 60_000;
const lookMs = 50;

/** The time from an enqueue to its handler, of each app that has the probe; in the database's time. */
export async function measureLatency(admin: Admin, changedBy: string): Promise<DoctorFinding[]> {
  const definitions = await admin.definitions();
  const names = definitions.map(({ name }) => name).filter((name) => name.startsWith(probePrefix));
  if (names.length === 0) {
    const text =
      "Not measured: no app has the probe. Set TASKGATE_PROBE to on in the app, and let its sweep or a worker start once.";
    return [{ check, status: "note", text }];
  }
  const findings: DoctorFinding[] = [];
  for (const name of names) findings.push(await measureOne(admin, name, changedBy));
  return findings;
}

async function measureOne(admin: Admin, name: string, changedBy: string): Promise<DoctorFinding> {
  const waits: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const waitMs = await waitOf(admin, name, changedBy);
    if (waitMs === null) {
      const text = `${name}: a task hasn't ended within ${String(patienceMs / 1_000)} s. Is a worker there, and does its queue answer?`;
      return { check, status: "broken", text };
    }
    waits.push(waitMs);
  }
  const [first = 0, ...rest] = waits;
  const sorted = [...rest].sort((left, right) => left - right);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? first;
  const longest = sorted.at(-1) ?? first;
  const text = `${name}: from the enqueue to the handler ${String(middle)} ms in the middle, ${String(longest)} ms at most, of ${String(rest.length)} tasks; the one before them, which may have woken an app, ${String(first)} ms.`;
  return { check, status: "ok", text };
}

/** One task's wait, ms; null: it hasn't ended in time. */
async function waitOf(admin: Admin, definition: string, changedBy: string): Promise<number | null> {
  const { tasks } = await admin.enqueue({
    definition,
    changedBy,
    tasks: [{ kind: definition, payload: "{}" }],
  });
  const [added] = tasks;
  if (added === undefined) return null;
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
    await sleep(lookMs);
    const facts = await admin.facts(added.task);
    if (facts?.endedAt === undefined) continue;
    const startedMs = Date.parse(facts.endedAt) - (facts.durationMs ?? 0);
    return Math.max(Math.round(startedMs - Date.parse(facts.createdAt)), 0);
  }
  return null;
}
