import { createHash } from "node:crypto";
import type { DefinitionReport } from "../../admin/app-actions";
import type { WatermarkReport } from "../../admin/watermark-actions";
import type { Rate } from "../../core/rate";
import type { GroupStatus, SharedLimitReading } from "../../ports/task-store";
import type { ScheduleReport } from "../../admin/schedule-calls";

/**
 * Entity tags of settings. A tag is a hash of what can be set, and of the thing's name: it is the same as long as no setting
 * changes, however counts move, and the same again after a change back. A watermark's tag is its version's.
 */

/** Settings as they stand, and their tag. */
export interface Tagged {
  /** With its quotes, as headers have it. */
  readonly tag: string;
  /** Names and values, for a problem that tells the current ones. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A definition's limit, rate, pause and owner; also what the code says of limit and rate. */
export function tagDefinition(definition: DefinitionReport): Tagged {
  const { name, limit, limitSource, codeLimit, rate, rateSource, codeRate, paused, app } =
    definition;
  return tagged("definition", [name], {
    ...{ limit, limitSource, codeLimit },
    ...{ rate: plainRate(rate), rateSource, codeRate: plainRate(codeRate) },
    ...{ paused, app },
  });
}

/** A limit that definitions share. */
export function tagSharedLimit({
  name,
  limit,
  limitSource,
  codeLimit,
}: SharedLimitReading): Tagged {
  return tagged("shared limit", [name], { limit, limitSource, codeLimit });
}

/** A group's slots, pause and order. */
export function tagGroup({ definition, key, slots, paused, strict }: GroupStatus): Tagged {
  return tagged("group", [definition, key], { slots, paused, strict });
}

/** A schedule's pause, and what the code says of it. */
export function tagSchedule(schedule: ScheduleReport): Tagged {
  const { definition, name, kind, cron, timeZone, missed, paused, group, payload } = schedule;
  const settings = { kind, cron, timeZone, missed, paused, group };
  // The payload is hashed, and not told: a caller may lack the role to see it.
  return { tag: tagged("schedule", [definition, name, payload], settings).tag, settings };
}

/** A watermark: each change gives it another version. */
export function tagWatermark({ definition, name, value, version }: WatermarkReport): Tagged {
  return { ...tagged("watermark", [definition, name], { version }), settings: { value, version } };
}

function tagged(
  kind: string,
  names: readonly unknown[],
  settings: Readonly<Record<string, unknown>>,
): Tagged {
  const text = JSON.stringify([kind, names, settings]);
  const hash = createHash("sha256").update(text).digest("base64url");
  return { tag: `"${hash.slice(0, 22)}"`, settings };
}

/** With its members in one order: they come from the database's JSON. */
function plainRate(rate: Rate | null): Rate | null {
  if (rate === null) return null;
  const { count, periodMs, burst } = rate;
  return { count, periodMs, burst };
}
