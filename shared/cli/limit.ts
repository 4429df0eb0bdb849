import type { Admin } from "../admin/create-admin";
import { readListSharedLimitsQuery, readSharedLimitName } from "../admin/limit-requests";
import { take } from "../admin/read-result";
import { readDefinitionName, readLimitRequest } from "../admin/requests";
import { showsOrSets } from "../admin/sentences";
import { shownName } from "../core/calls-definition";
import { limits } from "../core/limits";
import { nameParameter, reasonOption, report, yesOption } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { ExitCode } from "./exit-codes";
import { columns, readLimits, unknownLimit } from "./limits";
import { renderTable, showLimit, showNumber } from "../terminal/output";
import { refusal, refuseGiven } from "./read-values";

/** `taskgate limit NAME [VALUE]` */
export const limitCommand: Command = {
  name: "limit",
  group: "change",
  parameters: [nameParameter, { name: "VALUE", isOptional: true, values: ["none", "code"] }],
  options: {
    shared: { sentence: "NAME is a limit that definitions share." },
    create: { sentence: "With --shared: makes a limit that isn't there yet, for code to come." },
    yes: yesOption,
    reason: reasonOption,
  },
  sentence: `${showsOrSets.limit}.`,
  details: [
    "VALUE: 0 (nothing starts) to 1000; none: no limit; code: the limit that the code says.",
    "A higher limit starts more tasks at once. After a lower one running tasks finish.",
  ].join("\n"),
  examples: [
    { line: "taskgate limit greet", sentence: "The limit, and the tokens held of it." },
    { line: "taskgate limit greet --watch", sentence: "The same again every 2 s, until Ctrl+C." },
    {
      line: `taskgate limit greet 3 --reason "the partner is slow"`,
      sentence: "At most 3 at once.",
    },
    { line: "taskgate limit greet code", sentence: "The limit that the code says." },
    { line: "taskgate limit partner-api 4 --shared", sentence: "A limit that definitions share." },
  ],
  run: (context) => (context.args[1] === undefined ? show(context) : set(context)),
};

async function show(context: CommandContext): Promise<ExitCode> {
  const { flags, args } = context;
  refuseGiven(context, ["reason", "create"], "it only together with a VALUE");
  const query = take(readListSharedLimitsQuery({ name: args[0] }));
  const admin = context.admin();
  const { rows } = await readLimits(admin, query);
  const found = rows.filter(({ isShared }) => isShared || !flags.has("shared"));
  if (found.length === 0) {
    // Throws, with near names of definitions.
    if (!flags.has("shared")) await admin.definitions(query.name);
    throw unknownLimit(query.name ?? "", {
      sought: "a shared limit",
      known: await admin.sharedLimits(take(readListSharedLimitsQuery({}))),
    });
  }
  report(context, { limits: found }, () => renderTable(found, columns, context.output));
  return exitCodes.ok;
}

async function set(context: CommandContext): Promise<ExitCode> {
  const [given, value = ""] = context.args;
  if (context.isRepeated === true) throw refusal("VALUE", value, "no VALUE together with --watch");
  const isShared = context.flags.has("shared");
  if (!isShared) refuseGiven(context, ["create"], "it only together with --shared");
  const name = take(isShared ? readSharedLimitName(given) : readDefinitionName(given));
  const { reason } = context.options;
  const change = take(readLimitRequest({ limit: limitOf(value), reason }));
  const admin = context.admin();
  const what = (): Promise<string> => (isShared ? endOfShared(admin, name) : endOf(admin, name));
  if (change.limit === 0 && !(await context.confirm(what))) return exitCodes.failed;
  const { changedBy } = context;
  if (isShared) {
    const create = context.flags.has("create");
    const answer = await admin.setSharedLimit({ ...change, create, name, changedBy });
    report(context, answer, () => describeShared(name, answer));
    return exitCodes.ok;
  }
  const limit = await admin.setLimit({ ...change, definition: name, changedBy });
  report(context, limit, () => {
    const over =
      limit.overLimit === 0
        ? ""
        : ` ${showNumber(limit.overLimit, "above the new limit comes back as its task ends", "above the new limit come back as their tasks end")}.`;
    return `The limit of ${name} is ${showLimit(limit.newLimit)}, it was ${showLimit(limit.oldLimit)}. ${showNumber(limit.held, "token is", "tokens are")} held.${over}`;
  });
  return exitCodes.ok;
}

/** The new limit, and that it throttles nothing where that is so. */
function describeShared(
  name: string,
  answer: Awaited<ReturnType<Admin["setSharedLimit"]>>,
): string {
  const { oldLimit, newLimit, held, overLimit, drawnBy } = answer;
  const was = oldLimit === undefined ? "new" : `it was ${showLimit(oldLimit)}`;
  const tokens =
    drawnBy.length === 0
      ? "No definition draws from it yet: it throttles nothing."
      : `${showNumber(held, "token is", "tokens are")} held, ${String(overLimit)} above it.`;
  return `The shared limit ${name} is ${showLimit(newLimit)}, ${was}. ${tokens}`;
}

/** What limit 0 means, for the question. */
async function endOf(admin: Admin, name: string): Promise<string> {
  const [now] = await admin.definitions(name);
  const running = showNumber(now?.running ?? 0, "running task finishes", "running tasks finish");
  return `Limit 0: no task of ${name} starts any more; ${running}.`;
}

async function endOfShared(admin: Admin, name: string): Promise<string> {
  const [now] = await admin.sharedLimits({ name, max: 1 });
  const names = now?.definitions.map((user) => shownName(user.name)).join(", ") ?? "";
  const whose = names === "" ? "no definition so far" : names;
  return `Limit 0: no task or function that draws from ${name} starts any more (${whose}).`;
}

function limitOf(text: string): number | "code" | null {
  if (text === "none") return null;
  if (text === "code") return text;
  if (/^\d{1,4}$/.test(text) && Number(text) <= limits.tokensMax) return Number(text);
  const expected = `none (no limit), code (the code's own again) or a whole number in 0..${String(limits.tokensMax)}`;
  throw refusal("limit", text, expected);
}
