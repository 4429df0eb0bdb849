import type { HttpRequest } from "@azure/functions";
import type { Admin } from "../../admin/create-admin";
import { conditionOf, requireMatch } from "./if-match";
import { tagDefinition, tagGroup, tagSchedule, tagSharedLimit, tagWatermark } from "./settings-tag";
import type { Tagged } from "./settings-tag";
import { inTurn } from "./turns";

/** The settings that a change is about, read before it where the caller says what it expects (If-Match). */
export interface SettingsPlace<Change> {
  /** Names the settings among all others. */
  readonly nameOf: (change: Change) => string;
  /** The settings as they stand; null: there are none. */
  readonly read: (admin: Admin, change: Change) => Promise<Tagged | null>;
  /** Members of the change that make the database compare, too, where its call does that. The caller's own come first. */
  readonly expected?: (current: Tagged) => object;
  /** Did the database's comparison fail? */
  readonly isConflict?: (answer: unknown) => boolean;
}

/**
 * Makes a change if the request's condition holds; without a condition it just makes it. Two conditional changes of the
 * same settings take turns within one process. Between processes another change may come in after the read, but where the
 * database compares. Throws SettingsChanged.
 */
export async function changeIfMatch<Change extends object, Result>(
  { request, admin, place }: { request: HttpRequest; admin: Admin; place: SettingsPlace<Change> },
  change: Change,
  make: (change: Change) => Promise<Result>,
): Promise<Result> {
  const condition = conditionOf(request);
  if (condition === null) return make(change);
  return inTurn(admin, place.nameOf(change), async () => {
    const current = await place.read(admin, change);
    requireMatch(condition, current);
    if (condition === "any" || current === null) return make(change);
    const answer = await make({ ...place.expected?.(current), ...change });
    if (place.isConflict?.(answer) === true)
      requireMatch(condition, await place.read(admin, change));
    return answer;
  });
}

const tagOrNull = <Row>(row: Row | undefined, tag: (row: Row) => Tagged): Tagged | null =>
  row === undefined ? null : tag(row);

/** Settings of a definition: limit, rate, pause, owner. */
export const definitionPlace: SettingsPlace<{ readonly definition: string }> = {
  nameOf: ({ definition }) => JSON.stringify(["definition", definition]),
  read: async (admin, { definition }) =>
    tagOrNull((await admin.definitions(definition))[0], tagDefinition),
};

/** A limit that definitions share. */
export const sharedLimitPlace: SettingsPlace<{ readonly name: string }> = {
  nameOf: ({ name }) => JSON.stringify(["shared limit", name]),
  read: async (admin, { name }) =>
    tagOrNull((await admin.sharedLimits({ name, max: 1 }))[0], tagSharedLimit),
};

interface GroupChange {
  readonly definition: string;
  readonly groupKey: string;
  readonly groupScope: "definition" | "global";
}

/** Settings of a group. */
export const groupPlace: SettingsPlace<GroupChange> = {
  nameOf: ({ definition, groupKey, groupScope }) =>
    JSON.stringify(["group", groupScope === "global" ? null : definition, groupKey]),
  read: async (admin, { definition, groupKey, groupScope }) => {
    const isGlobal = groupScope === "global";
    const scope = isGlobal ? {} : { name: definition };
    const groups = await admin.groups({ ...scope, groupKey, max: isGlobal ? 1_000 : 1 });
    return tagOrNull(
      groups.find((group) => (group.definition === null) === isGlobal),
      tagGroup,
    );
  },
};

/** Settings of a schedule. */
export const schedulePlace: SettingsPlace<{
  readonly definition: string;
  readonly schedule: string;
}> = {
  nameOf: ({ definition, schedule }) => JSON.stringify(["schedule", definition, schedule]),
  read: async (admin, { definition, schedule }) =>
    tagSchedule(await admin.schedule({ definition, schedule })),
};

/** A watermark. The database compares its version in the call that sets it. */
export const watermarkPlace: SettingsPlace<{
  readonly definition: string;
  readonly watermark: string;
}> = {
  nameOf: ({ definition, watermark }) => JSON.stringify(["watermark", definition, watermark]),
  read: async (admin, { definition, watermark }) =>
    tagOrNull((await admin.watermarks({ name: definition, watermark, max: 1 }))[0], tagWatermark),
  expected: ({ settings }) => ({ expectedVersion: settings["version"] }),
  isConflict: (answer) => (answer as { status?: unknown }).status === "conflict",
};
