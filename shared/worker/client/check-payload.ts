import { InvalidArgumentError } from "../../core/errors";
import { validate } from "../define/standard-schema";
import type { Validated } from "../define/standard-schema";
import type { AnyTaskRef } from "../define/task-ref";

/**
 * Asks a kind's schema about a payload as its JSON says it, as a worker will: what would only be refused later is refused
 * here. Returns nothing where the schema answers at once. Throws InvalidArgumentError naming the payload and its problems;
 * `at`: which of several, such as `tasks[2].`.
 */
export function checkPayload(
  kind: Pick<AnyTaskRef, "kind" | "schema">,
  text: string | null,
  at: string,
): Promise<void> | undefined {
  if (kind.schema === null) return undefined;
  const checked = validate(kind.schema, text === null ? null : (JSON.parse(text) as unknown));
  if (checked instanceof Promise)
    return checked.then((answer) => {
      expectValid(kind.kind, answer, at);
    });
  expectValid(kind.kind, checked, at);
  return undefined;
}

function expectValid(kind: string, checked: Validated<unknown>, at: string): void {
  if (checked.ok) return;
  throw new InvalidArgumentError(
    `${at}payload: expected what kind ${kind} takes (${checked.problems.join("; ")})`,
    { details: { field: `${at}payload` } },
  );
}
