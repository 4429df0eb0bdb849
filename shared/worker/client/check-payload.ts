import { InvalidArgumentError } from "../../core/errors";
import { describeValue } from "../../core/foreign-value";
import { validateGiven } from "../define/standard-schema";
import type { Validated } from "../define/standard-schema";
import type { AnyTaskRef } from "../define/task-ref";

/**
 * Asks a kind's schema about a payload as its JSON says it, as a worker will: what would only be refused later is refused
 * here. Returns nothing where the schema answers at once. Throws InvalidArgumentError naming the payload and its problems, also where the schema itself throws.
 */
export function checkPayload(
  kind: Pick<AnyTaskRef, "kind" | "schema">,
  text: string | null,
): Promise<void> | undefined {
  if (kind.schema === null) return undefined;
  const payload = text === null ? null : (JSON.parse(text) as unknown);
  const checked = validateGiven(kind.schema, payload);
  const place = { kind: kind.kind, payload };
  if (checked instanceof Promise)
    return checked.then((answer) => {
      expectValid(answer, place);
    });
  expectValid(checked, place);
  return undefined;
}

function expectValid(
  checked: Validated<unknown>,
  { kind, payload }: { kind: string; payload: unknown },
): void {
  if (checked.ok) return;
  const expected = `what kind ${kind} takes (${checked.problems.join("; ")})`;
  const field = "payload";
  const problem = { field, value: describeValue(payload), expected };
  throw new InvalidArgumentError(`payload: expected ${expected}`, {
    details: { field, problems: [problem] },
    cause: checked.cause,
  });
}
