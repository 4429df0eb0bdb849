import { readListing } from "../admin/listing";
import { take } from "../admin/object-reader";
import { readListExecutionsQuery } from "../admin/requests";
import type { ExecutionStatus } from "../ports/task-store";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { describeCut, renderTable, showDuration, showInstant } from "./output";
import type { Column } from "./output";

/** `taskgate executions` */
export const executionsCommand: Command = {
  name: "executions",
  parameters: [],
  options: {
    name: { type: "string", valueName: "NAME", sentence: "Only of this definition." },
    all: { type: "boolean", sentence: "Ended ones, too." },
    most: { type: "string", valueName: "N", sentence: "At most so many, 1..1000; default 100." },
  },
  sentence: "Who works, with how many tokens, newest first.",
  run: async (context) => {
    const { name, most } = context.options;
    const query = take(
      readListExecutionsQuery({
        definition: name,
        most,
        open: context.flags.has("all") ? "false" : "true",
      }),
    );
    const admin = await context.admin();
    const { rows: executions, more } = await readListing(query, admin.executions);
    report(context, { executions, more }, () =>
      executions.length === 0
        ? `No execution ${query.isOpen ? "is open" : "is on record"}.`
        : renderTable(executions, columns, context.output.columns) +
          describeCut({ rows: executions, more }),
    );
    return exitCodes.ok;
  },
};

const columns: readonly Column<ExecutionStatus>[] = [
  { title: "execution", value: (row) => row.execution, isNumber: true },
  { title: "definition", value: (row) => row.definition },
  { title: "state", value: (row) => row.state },
  { title: "tokens", value: (row) => String(row.tokens), isNumber: true },
  { title: "running", value: (row) => String(row.running), isNumber: true },
  { title: "prefetched", value: (row) => String(row.prefetched), isNumber: true },
  { title: "lease left", value: (row) => showDuration(row.leaseLeftMs), isNumber: true },
  { title: "started", value: (row) => showInstant(row.startedAt) },
  { title: "worker", value: (row) => row.worker },
];
