import { messageOf } from "../../core/foreign-value";
import { oldestAgeMs } from "../../core/oldest-age";
import type { DefinitionStatus } from "../../ports/task-store";
import type { Telemetry } from "../../ports/telemetry";
import type { WorkerEnvironment } from "../environment";

/** Definitions whose oldest ready task is looked up: a read each. */
const agesMax = 50;

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
    const waiting = mine.filter(({ ready }) => ready > 0).slice(0, agesMax);
    const ages = new Map<string, number>();
    for (const { name } of waiting)
      ages.set(name, oldestAgeMs(await store.readPace({ name, max: 1 })));
    for (const { name } of mine) {
      const ageMs = ages.get(name) ?? 0;
      telemetry.gauge("taskgate.definition.oldest_ready", ageMs, { definition: name });
    }
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
