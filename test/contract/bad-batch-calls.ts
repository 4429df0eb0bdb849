import { someId } from "./bad-sql-calls";
import type { BadCall } from "./bad-sql-calls";

const badName = "name: expected 1..200 characters without blanks at either end";
const badPolicy = "failure_policy: expected halt, continue or cancel";
const badWaves = "waves: expected 1..1000";

/** Each bad value of a batch, and how it is told. */
const made = [
  ["NULL, N'halt', 1", `${badName} (<NULL>)`],
  ["N'', N'halt', 1", `${badName} ()`],
  ["N' x', N'halt', 1", `${badName} ( x)`],
  ["N'5% ', N'halt', 1", `${badName} (5% )`],
  [`N'${"x".repeat(201)}', N'halt', 1`, `${badName} (${"x".repeat(201)})`],
  ["N'x', NULL, 1", `${badPolicy} (<NULL>)`],
  ["N'x', N'', 1", `${badPolicy} ()`],
  ["N'x', N'Halt', 1", `${badPolicy} (Halt)`],
  // A server compares texts as if they were filled up with blanks.
  ["N'x', N'halt ', 1", `${badPolicy} (halt )`],
  ["N'x', N'5%', 1", `${badPolicy} (5%)`],
  ["N'x', N'halt', NULL", `${badWaves} (<NULL>)`],
  ["N'x', N'halt', 0", `${badWaves} (0)`],
  ["N'x', N'halt', 1001", `${badWaves} (1001)`],
  // Of several faults the first argument's is told.
  ["N'', N'', 0", `${badName} ()`],
  ["N'x', N'', 0", `${badPolicy} ()`],
] as const;

/** Calls about batches in plain T-SQL, each bad in one way. */
export const badBatchCalls: readonly BadCall[] = [
  ...made.map(([values, says], index) => ({
    title: `CreateBatch ${String(index)}: ${says.slice(0, 80)}`,
    call: `CreateBatch ${someId}, ${values}`,
    number: 50422,
    says,
  })),
  {
    call: "CreateBatch NULL, N'x', N'halt', 0",
    number: 50422,
    says: `${badWaves} (0)`,
  },
  {
    call: "CreateBatch NULL, N'x', N'halt', 1",
    number: 50422,
    says: "operation_id: expected a uuid (<NULL>)",
  },
  { call: "PumpBatch NULL, 1", number: 50404, says: "batch_id: unknown (<NULL>)" },
  ...["NULL", "0", "1001"].map((max) => ({
    call: `PumpBatch 99, ${max}`,
    number: 50422,
    says: `max: expected 1..1000 (${max === "NULL" ? "<NULL>" : max})`,
  })),
  ...["NULL", "0", "101"].map((max) => ({
    call: `ListBatches NULL, NULL, ${max}`,
    number: 50422,
    says: `max: expected 1..100 (${max === "NULL" ? "<NULL>" : max})`,
  })),
];
