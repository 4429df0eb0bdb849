import type { DefinitionReport } from "../admin/app-actions";
import type { Admin } from "../admin/create-admin";
import { readListSharedLimitsQuery } from "../admin/limit-requests";
import { readListing } from "../admin/listing";
import type { Listing } from "../admin/listing";
import { invalidInput, take } from "../admin/read-result";
import { describeKnownOf, shownName } from "../core/calls-definition";
import type { ListSharedLimitsInput, SharedLimitReading } from "../ports/task-store";
import { maxOption, optionalNameParameter } from "./command";
import type { Command } from "./command";
import { showHeld, showLimitInForce } from "../terminal/limit-texts";
import { showLimit } from "../terminal/output";
import type { Column } from "../terminal/output";
import { reportListing } from "./report-listing";

/** `taskgate limits` */
export const limitsCommand: Command = {
  name: "limits",
  group: "look",
  parameters: [optionalNameParameter],
  options: { max: maxOption() },
  sentence: "Lists limits: those of definitions, then those that definitions share.",
  details: "`taskgate limit NAME VALUE` sets one.",
  examples: [
    { line: "taskgate limits", sentence: "All limits, and the tokens held of each." },
    { line: "taskgate limits partner-api", sentence: "One limit." },
  ],
  run: async (context) => {
    const { max } = context.options;
    const query = take(readListSharedLimitsQuery({ name: context.args[0], max }));
    const admin = context.admin();
    const listing = await readLimits(admin, query);
    if (query.name !== undefined && listing.rows.length === 0)
      throw unknownLimit(query.name, {
        sought: "a definition or of a shared limit",
        known: (await readLimits(admin, take(readListSharedLimitsQuery({})))).rows,
      });
    reportListing(context, listing, { name: "limits", columns });
  },
};

/** A limit of one definition, or one that definitions share. */
interface LimitReading extends SharedLimitReading {
  readonly isShared: boolean;
  /** Those that the definition draws from; a shared limit has none. */
  readonly sharedLimits: DefinitionReport["sharedLimits"];
}

/** The limits of definitions by name, then the shared ones by name; with a name only limits of that name. */
export async function readLimits(
  admin: Admin,
  request: ListSharedLimitsInput,
): Promise<Listing<LimitReading>> {
  const { name, max } = request;
  const definitions = await admin.definitions();
  const own = definitions
    .filter((definition) => name === undefined || definition.name === name)
    .map(({ name: of, limit, limitSource, codeLimit, held, sharedLimits }) => ({
      ...{ name: of, isShared: false, limit, limitSource, codeLimit, held, sharedLimits },
      definitions: [{ name: of, held }],
    }));
  const shared = await readListing(request, admin.sharedLimits);
  const rows = [
    ...own,
    ...shared.rows.map((row) => ({ ...row, isShared: true, sharedLimits: [] })),
  ];
  return { rows: rows.slice(0, max), more: shared.more || rows.length > max };
}

/** The error of a name that no limit has; it names near ones, or says which there are. */
export function unknownLimit(
  name: string,
  { sought, known }: { sought: string; known: readonly { readonly name: string }[] },
): Error {
  const names = known.map((limit) => limit.name);
  const hint = describeKnownOf(name, names) ?? "there is none";
  const expected = `the name of ${sought}; ${hint}`;
  return invalidInput([{ field: "limit", value: `\`${name}\``, expected }], "TASKGATE_ARG_UNKNOWN");
}

/** What people see of a limit. */
export const columns: readonly Column<LimitReading>[] = [
  { title: "name", value: (row) => (row.isShared ? row.name : shownName(row.name)) },
  { title: "of", value: (row) => (row.isShared ? "shared" : "definition") },
  { title: "limit", value: showLimitInForce, isNumber: true },
  { title: "code", value: (row) => showLimit(row.codeLimit), isNumber: true, isSpare: true },
  { title: "held", value: showHeld, isNumber: true },
  { title: "set by", value: (row) => row.limitSource },
  { title: "drawn by", value: describeUsers, wraps: true },
];

/** A definition that holds none is named, too: it may wait for this limit. */
function describeUsers({ isShared, definitions }: LimitReading): string {
  if (!isShared) return "";
  const users = definitions.map(({ name, held }) => `${shownName(name)} ${String(held)}`);
  return users.length === 0 ? "no definition" : users.join(", ");
}
