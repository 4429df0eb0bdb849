import { messageOf } from "../../core/foreign-value";
import { oldestAgeMs } from "../../core/oldest-age";
import type { DefinitionStatus } from "../../ports/task-store";
import type { Telemetry } from "../../ports/telemetry";
import type { WorkerEnvironment } from "../environment";

/** Definitions whose oldest ready task is looked up: a read each. Of more each sweep takes the next ones. */
const agesMax = 50;
/** How many were looked up before, of those that wait. */
const lookedUp = new WeakMap<object, number>();

/**
 * Gauges of this app's definitions, where the telemetry takes some: waiting and running tasks, the age of the oldest ready one, and tokens. One
 * read for all, and one for each definition with ready tasks. Never throws: a sweep that measured nothing has done its work.
 */
export async function measureDefinitions(
  { store, telemetry, logger }: Pick<WorkerEnvironment, "store" | "telemetry" | "logger">,
  own: ReadonlySet<string>,
): Promise<void> {
  if (telemetry.gauge === undefined) return;
  try {
    const { definitions } = await store.listDefinitions({});
    const mine = definitions.filter(({ name }) => own.has(name));
    for (const definition of mine) measure(telemetry, definition);
    const age = (definition: string, ms: number): void =>
      telemetry.gauge?.("taskgate.definition.oldest_ready", ms, { definition });
    for (const { name, ready } of mine) if (ready === 0) age(name, 0);
    const waiting = mine.filter(({ ready }) => ready > 0);
    const from = (lookedUp.get(store) ?? 0) % Math.max(waiting.length, 1);
    lookedUp.set(store, from + agesMax);
    const inTurn = [...waiting.slice(from), ...waiting.slice(0, from)].slice(0, agesMax);
    for (const { name } of inTurn) age(name, oldestAgeMs(await store.readPace({ name, max: 1 })));
  } catch (error) {
    logger.warn("the definitions could not be measured", { error: messageOf(error) });
  }
}

function measure(telemetry: Telemetry, status: DefinitionStatus): void {
  const attributes = { definition: status.name };
  for (const count of ["ready", "scheduled", "waiting", "running", "held", "dead"] as const)
    telemetry.gauge?.(`taskgate.definition.${count}`, status[count], attributes);
  // Without a limit there is no number.
  if (status.limit !== null)
    telemetry.gauge?.("taskgate.definition.limit", status.limit, attributes);
}
