/** What operators ask of lists of tasks, as requests.ts has it: states, and filters. */
import { z } from "zod";
import { limits } from "../core/limits";
import { pathForm } from "../core/payload-key";
import { listableStates, standingsNote } from "../core/listable-states";
import { listQueryOf } from "./object-schema";
import type { ValueOf } from "./object-schema";
import { batchId, instant, key, maxEntries, text } from "./schemas";

/** A query has several states joined by commas. Each counts once. */
const states = z
  .preprocess(
    (given) => (typeof given === "string" ? given.split(",") : given),
    z.array(z.enum(listableStates, `one of ${listableStates.join(", ")}; ${standingsNote}`)).min(1),
  )
  .transform((given) => [...new Set(given)])
  .meta({ description: "Default ready; with another filter all. Several are joined by commas." });

const whereRule = `PATH=VALUE such as customer.id=42: names joined by dots, and a text of at most ${String(limits.nameLengthMax)} characters, a number, true, false or null as the payload writes it`;

/** A member of the payload and its value. */
const where = z
  .string(whereRule)
  .transform((given, context): { path: string; value: string } => {
    const [path = "", ...rest] = given.split("=");
    const value = rest.join("=");
    if (rest.length > 0 && isPath(path) && isValue(value)) return { path, value };
    context.addIssue({ code: "custom", message: whereRule });
    return z.NEVER;
  })
  .meta({
    pattern: "^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*=[^\\u0000]{0,200}$",
    description: "A member of the payload, PATH=VALUE. Wants the right to see payloads.",
  });

function isPath(path: string): boolean {
  return path.length <= limits.nameLengthMax && pathForm.test(path);
}

function isValue(value: string): boolean {
  return value.length <= limits.nameLengthMax && value.isWellFormed() && !value.includes("\u0000");
}

/** Which tasks to list: those of some states that all filters fit. */
export const readListTasksQuery = listQueryOf(
  {
    state: states.exactOptional(),
    key: key.meta({ description: "The dedupe key." }).exactOptional(),
    keyPrefix: key.meta({ description: "How the dedupe key begins." }).exactOptional(),
    group: key.meta({ description: "The key of a group. Done tasks name none." }).exactOptional(),
    batch: batchId.exactOptional(),
    since: instant.meta({ description: "Added at it or behind it." }).exactOptional(),
    before: instant.meta({ description: "Added before it." }).exactOptional(),
    endedSince: instant.exactOptional(),
    endedBefore: instant.exactOptional(),
    where: where.exactOptional(),
    error: text({ min: 1, max: limits.reasonLengthMax })
      .meta({ description: "A text in the last error; upper and lower case count." })
      .exactOptional(),
    max: maxEntries(),
  },
  {
    ...{ state: "states", group: "groupKey", batch: "batchId" },
    ...{ since: "createdSince", before: "createdBefore" },
  },
);
/** Which tasks to list. */
export type ListTasksRequest = ValueOf<typeof readListTasksQuery>;
