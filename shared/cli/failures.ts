import { take } from "../admin/read-result";
import type { FailureGroup } from "../admin/failure-groups";
import { readFailuresQuery } from "../admin/failure-requests";
import { looks } from "../admin/sentences";
import { maxOption, optionalNameParameter, report } from "./command";
import type { Command } from "./command";
import { renderTable, showCount, showInstant, showNumber } from "../terminal/output";
import type { Column } from "../terminal/output";

/** `taskgate failures [NAME]` */
export const failuresCommand: Command = {
  name: "failures",
  group: "look",
  parameters: [optionalNameParameter],
  options: {
    batch: { valueName: "ID", sentence: "Only tasks of this batch, of all its definitions." },
    max: maxOption(1_000, 20),
  },
  sentence: `${looks.failures}.`,
  details: [
    "Errors that differ only in numbers and ids are one line; # stands for what differs. 400 to 599 stay where they stand as a status.",
    "The newest 5,000 dead tasks of a definition are read; of all definitions 2,500, as many of each. `taskgate redrive NAME --all --like TEXT` retries all of one line, also those that this list doesn't reach.",
  ].join("\n"),
  examples: [
    { line: "taskgate failures", sentence: "The failures of all definitions." },
    { line: "taskgate failures greet -n 5", sentence: "The five most frequent errors of one." },
    { line: "taskgate failures --batch 1", sentence: "The failures of a batch." },
  ],
  run: async (context) => {
    const [definition] = context.args;
    const { batch, max } = context.options;
    const request = take(readFailuresQuery({ definition, batch, max }));
    const answer = await context.admin().failures(request);
    report(context, answer, () => {
      if (answer.groups.length === 0)
        return batch === undefined ? "No task is dead." : `No task of batch ${batch} is dead.`;
      const table = renderTable(answer.groups, columns, context.output);
      const cut = answer.more ? "\n\nThere are more: --max N shows up to 1000." : "";
      const read = answer.isWhole
        ? ""
        : `\n\nOf the newest ${showNumber(answer.lookedAt, "dead task", "dead tasks")}; there are older ones.`;
      return table + cut + read;
    });
  },
};

const columns: readonly Column<FailureGroup>[] = [
  { title: "tasks", value: (row) => showCount(row.count), isNumber: true, tone: () => "bad" },
  { title: "definition", value: (row) => row.definition, tone: () => "strong" },
  { title: "kind", value: (row) => row.kind, isSpare: true },
  { title: "first", value: (row) => showInstant(row.firstAt), isSpare: true },
  { title: "last", value: (row) => showInstant(row.lastAt) },
  { title: "example", value: (row) => row.example, isNumber: true },
  { title: "error", value: (row) => row.like, wraps: true },
];
