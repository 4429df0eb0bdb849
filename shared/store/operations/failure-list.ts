import type { TaskId } from "../../core/ids";
import { checkMax } from "./checks";
import { bool, idList, int, json } from "./columns";
import { operationsOf } from "./operation";

/* ---- Failures: dead tasks put together by what they died of ---- */

/** The failure. */
export interface FailureListOperations {
  /** Dead tasks by definition, kind and error, most first. */
  listFailures(input: ListFailuresInput): Promise<ListFailuresAnswer>;
}

export interface ListFailuresInput {
  /** Left out: of all definitions, the same number of each, at least 10. */
  name?: string;
  /** So many dead tasks are looked at, the newest ones; 1..5000. */
  max: number;
}

export interface ListFailuresAnswer {
  /** Dead tasks looked at. */
  lookedAt: number;
  /** There are no others. */
  isWhole: boolean;
  failures: EqualFailures[];
}

/** Dead tasks of one definition and kind with the same beginning of their error. */
export interface EqualFailures {
  definition: string;
  kind: string;
  /** The first 300 characters, without blanks at the end; null: none was told. */
  error: string | null;
  count: number;
  /** ISO-8601 UTC: when the first and the last of them ended. */
  firstAt: string;
  lastAt: string;
  /** Newest first. */
  taskIds: TaskId[];
}

const operation = operationsOf<FailureListOperations>();

/** Procedure `list_failures`. */
export const listFailures = operation("listFailures", {
  right: "worker",
  parameters: { name: "text", max: "int" },
  check: checkMax,
  decode: (row) => ({
    lookedAt: int(row, "lookedAt"),
    isWhole: bool(row, "isWhole"),
    failures: json<FailureRow[]>(row, "failures").map(({ tasks, ...failure }) => ({
      ...failure,
      taskIds: idList(tasks),
    })),
  }),
});

/** As the procedure writes it: ids joined by commas. */
type FailureRow = Omit<EqualFailures, "taskIds"> & { tasks: string };
