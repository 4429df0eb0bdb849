import { readListing } from "../admin/listing";
import { take } from "../admin/read-result";
import { readListExecutionsQuery } from "../admin/requests";
import { looks } from "../admin/sentences";
import { isCallsDefinition, shownName } from "../core/calls-definition";
import type { ExecutionStatus } from "../ports/task-store";
import { maxOption, optionalNameParameter } from "./command";
import type { Command } from "./command";
import { showDuration, showInstant } from "../terminal/output";
import type { Column } from "../terminal/output";
import { reportListing } from "./report-listing";

/** `taskgate executions` */
export const executionsCommand: Command = {
  name: "executions",
  group: "look",
  parameters: [optionalNameParameter],
  options: {
    all: { short: "a", sentence: "Includes executions that have ended." },
    max: maxOption(),
  },
  sentence: `${looks.executions}.`,
  examples: [
    { line: "taskgate executions", sentence: "The workers of all definitions." },
    { line: "taskgate executions greet --all -n 20", sentence: "The last 20 of one definition." },
  ],
  run: async (context) => {
    const { max } = context.options;
    const query = take(
      readListExecutionsQuery({
        definition: context.args[0],
        max,
        open: context.flags.has("all") ? "false" : "true",
      }),
    );
    const { executions } = context.admin();
    const none = `No execution ${query.isOpen ? "is open" : "is on record"}.`;
    const listing = await readListing(query, executions);
    reportListing(context, listing, { name: "executions", columns, none });
  },
};

const columns: readonly Column<ExecutionStatus>[] = [
  { title: "execution", value: (row) => row.execution, isNumber: true },
  { title: "definition", value: (row) => shownName(row.definition) },
  { title: "state", value: (row) => row.state },
  { title: "tokens", value: (row) => String(row.tokens), isNumber: true },
  { title: "running", value: ofTasks((row) => row.running), isNumber: true },
  { title: "prefetched", value: ofTasks((row) => row.prefetched), isNumber: true },
  { title: "lease left", value: (row) => showDuration(row.leaseLeftMs), isNumber: true },
  { title: "started", value: (row) => showInstant(row.startedAt) },
  { title: "worker", value: (row) => row.worker },
];

/** A count of tasks; of functions none: a call in an invocation is no task. */
function ofTasks(count: (row: ExecutionStatus) => number): (row: ExecutionStatus) => string {
  return (row) => (isCallsDefinition(row.definition) ? "-" : String(count(row)));
}
