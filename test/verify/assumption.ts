import type { BatchAnswer, BatchConnection } from "./batch-connection";
import type { StepRow } from "./result";
import type { StepContext } from "./step";

/** One of the riskiest assumptions about a server, and the smallest script that tells whether it holds. */
export interface Assumption {
  readonly what: string;
  /** Why our own endpoint can't tell; undefined: it runs the script, too. */
  readonly serverOnly?: string;
  run(context: StepContext): Promise<Finding>;
}

/** What a script found. */
export type Finding = Pick<StepRow, "status" | "summary"> & {
  readonly details?: readonly string[];
};

/** One thing that a server must say; undefined: it did. */
export type Fault = string | undefined;

/** Compares an answer with the expected one. */
export function expecting(
  answer: BatchAnswer,
  what: string,
  wanted: { readonly errors?: readonly number[]; readonly rows?: unknown },
): Fault {
  const errors = wanted.errors ?? [];
  if (JSON.stringify(answer.errors) !== JSON.stringify(errors)) {
    const said = answer.messages.length === 0 ? "" : ` (${answer.messages.join("; ")})`;
    return `${what}: expected ${listed(errors)}, got ${listed(answer.errors)}${said}`;
  }
  if (wanted.rows === undefined || JSON.stringify(answer.rows) === JSON.stringify(wanted.rows))
    return undefined;
  return `${what}: expected rows ${JSON.stringify(wanted.rows)}, got ${JSON.stringify(answer.rows)}`;
}

function listed(errors: readonly number[]): string {
  return errors.length === 0 ? "no error" : `error ${errors.join(", ")}`;
}

/** Passed without faults. */
export function judged(summary: string, faults: readonly Fault[]): Finding {
  const details = faults.filter((fault) => fault !== undefined);
  if (details.length === 0) return { status: "passed", summary };
  return { status: "failed", summary: `${String(details.length)} answers are others`, details };
}

/** Drops a script's objects, also after a failure. */
export async function cleaning<Result>(
  connection: BatchConnection,
  statements: readonly string[],
  body: () => Promise<Result>,
): Promise<Result> {
  try {
    return await body();
  } finally {
    for (const statement of statements) await connection.run(statement);
  }
}
