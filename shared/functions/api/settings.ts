import type { HttpRequest } from "@azure/functions";
import type { Admin } from "../../admin/create-admin";
import { SettingsConflict } from "../../admin/settings-conflict";
import type { AuditEntry } from "../../ports/task-store";
import { conditionOf, conditionText, isMet } from "./if-match";
import { SettingsChanged } from "./settings-changed";
import { tagDefinition, tagGroup, tagSchedule, tagSharedLimit, tagWatermark } from "./settings-tag";
import type { Tagged } from "./settings-tag";

/** The settings that a change is about, read before it where the caller says what it expects (If-Match). */
export interface SettingsPlace<Change> {
  /** The settings as they stand; null: there are none. */
  readonly read: (admin: Admin, change: Change) => Promise<Tagged | null>;
  /** Members of the change that make the database compare. The caller's own come first. */
  readonly expected: (current: Tagged) => object;
  /** Did the database's comparison fail? A call may also throw SettingsConflict. */
  readonly isConflict?: (answer: unknown) => boolean;
  /** The name by which the audit knows the settings; isOf: an entry of that name is about them. */
  readonly entries: (change: Change) => Entries;
}

interface Entries {
  readonly object: string;
  readonly isOf: (entry: AuditEntry) => boolean;
}

/** A comparison that fails with the same tag behind it was met by a change and a change back. */
const triesMax = 3;
/** Entries of the audit among which the last change of the settings is looked for. */
const entriesMax = 50;

/**
 * Makes a change if the request's condition holds; without a condition it just makes it. The database compares the value that
 * the change replaces, so that no other change of it comes in between. Throws SettingsChanged, with the newest change of these
 * settings and its actor.
 */
export async function changeIfMatch<Change extends object, Result>(
  { request, admin, place }: { request: HttpRequest; admin: Admin; place: SettingsPlace<Change> },
  change: Change,
  make: (change: Change) => Promise<Result>,
): Promise<Result> {
  const condition = conditionOf(request);
  if (condition === null) return make(change);
  for (let tries = 1; ; tries += 1) {
    const current = await place.read(admin, change);
    if (!isMet(condition, current) || tries > triesMax) {
      const last = current === null ? null : await lastChangeOf(admin, place.entries(change));
      throw new SettingsChanged(conditionText(condition), current, last);
    }
    if (condition === "any" || current === null) return make(change);
    const answer = await makeExpected({ ...place.expected(current), ...change }, make);
    if (answer !== null && place.isConflict?.(answer.made) !== true) return answer.made;
  }
}

/** Makes the change; null: the database's comparison failed. */
async function makeExpected<Change, Result>(
  change: Change,
  make: (change: Change) => Promise<Result>,
): Promise<{ readonly made: Result } | null> {
  try {
    return { made: await make(change) };
  } catch (error) {
    if (error instanceof SettingsConflict) return null;
    throw error;
  }
}

async function lastChangeOf(admin: Admin, { object, isOf }: Entries): Promise<AuditEntry | null> {
  const entries = await admin.audit({ object, max: entriesMax });
  return entries.find(isOf) ?? null;
}

const tagOrNull = <Row>(row: Row | undefined, tag: (row: Row) => Tagged): Tagged | null =>
  row === undefined ? null : tag(row);

const ofDefinition = [
  ...["set_limit", "set_rate", "pause_definition", "resume_definition"],
  ...["set_definition_owner", "register_definition"],
];

type DefinitionPlace = SettingsPlace<{ readonly definition: string }>;

/** Settings of a definition: limit, rate, pause, owner. The database compares one of them. */
const definitionPlace = (expected: string, compared: string): DefinitionPlace => ({
  entries: ({ definition }) => ({
    object: definition,
    isOf: (entry) => entry.definition === definition && ofDefinition.includes(entry.action),
  }),
  read: async (admin, { definition }) =>
    tagOrNull((await admin.definitions(definition))[0], tagDefinition),
  expected: ({ settings }) => ({ [expected]: settings[compared] }),
});

/** Of a definition; the database compares its limit. */
export const limitPlace = definitionPlace("expectedLimit", "limit");

/** Of a definition; the database compares its rate. */
export const ratePlace = definitionPlace("expectedRate", "rate");

/** Of a definition; the database compares whether it is paused. */
export const pausePlace = definitionPlace("expectedPaused", "paused");

/** Of a definition; the database compares the app that it belongs to. */
export const ownerPlace = definitionPlace("expectedApp", "app");

/** A limit that definitions share. The database compares the limit that it replaces. */
export const sharedLimitPlace: SettingsPlace<{ readonly name: string }> = {
  expected: ({ settings }) => ({ expectedLimit: settings["limit"] }),
  entries: ({ name }) => ({
    object: name,
    isOf: ({ object, setting }) => object === name && (setting ?? "").startsWith("shared_limit"),
  }),
  read: async (admin, { name }) =>
    tagOrNull((await admin.sharedLimits({ name, max: 1 }))[0], tagSharedLimit),
};

interface GroupChange {
  readonly definition: string;
  readonly groupKey: string;
  readonly groupScope: "definition" | "global";
}

/** Settings of a group. The database compares all of them. */
export const groupPlace: SettingsPlace<GroupChange> = {
  expected: ({ settings }) => ({ expected: settings }),
  entries: ({ definition, groupKey, groupScope }) => ({
    object: groupKey,
    isOf: ({ object, definition: owner, setting }) =>
      object === groupKey &&
      (groupScope === "global" ? (setting ?? "").startsWith("global_") : owner === definition),
  }),
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

/** Settings of a schedule. The database compares whether it is paused. */
export const schedulePlace: SettingsPlace<{
  readonly definition: string;
  readonly schedule: string;
}> = {
  expected: ({ settings }) => ({ expectedPaused: settings["paused"] }),
  entries: ({ definition, schedule }) => ({
    object: schedule,
    isOf: ({ object, definition: owner }) => object === schedule && owner === definition,
  }),
  read: async (admin, { definition, schedule }) =>
    tagSchedule(await admin.schedule({ definition, schedule })),
};

/** A watermark. The database compares its version in the call that sets it. */
export const watermarkPlace: SettingsPlace<{
  readonly definition: string;
  readonly watermark: string;
}> = {
  entries: ({ definition, watermark }) => ({
    object: watermark,
    isOf: ({ object, definition: owner }) => object === watermark && owner === definition,
  }),
  read: async (admin, { definition, watermark }) =>
    tagOrNull((await admin.watermarks({ name: definition, watermark, max: 1 }))[0], tagWatermark),
  expected: ({ settings }) => ({ expectedVersion: settings["version"] }),
  isConflict: (answer) => (answer as { status?: unknown }).status === "conflict",
};
