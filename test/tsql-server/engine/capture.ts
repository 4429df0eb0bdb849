import type { SqlValue } from "../values";
import type { Answer } from "./answer";
import type { Connection } from "./connection";
import type { Frame } from "./frame";
import type { Runner } from "./program";
import type { Steps } from "./steps";
import { isSteps } from "./steps";
import type { SqlType } from "../values";

export interface CapturedRow {
  readonly type: readonly SqlType[];
  readonly row: readonly SqlValue[];
}

/** Runs something whose row sets are rows for the caller, not for the client: INSERT .. EXEC. */
export function* captureRows(frame: Frame, run: Runner): Steps<CapturedRow[]> {
  const { connection } = frame;
  const captured: CapturedRow[] = [];
  const outside = connection.requireAnswer();
  connection.answer = capturing(outside, captured);
  try {
    const result = run(frame);
    if (isSteps(result)) yield* result;
  } finally {
    restoreAnswer(connection, outside);
  }
  return captured;
}

function restoreAnswer(connection: Connection, answer: Answer): void {
  connection.answer = answer;
}

function capturing(outside: Answer, captured: CapturedRow[]): Answer {
  let type: SqlType[] = [];
  return {
    columns: (columns) => {
      type = columns.map((column) => column.type);
    },
    row: (row) => {
      captured.push({ type, row });
    },
    endRows: () => undefined,
    count: () => undefined,
    error: (error) => {
      outside.error(error);
    },
    information: (message) => {
      outside.information(message);
    },
    began: (number) => {
      outside.began(number);
    },
    committed: (number) => {
      outside.committed(number);
    },
    rolledBack: (number) => {
      outside.rolledBack(number);
    },
  };
}
