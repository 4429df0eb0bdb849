import { expect } from "@jest/globals";
import { TaskgateError } from "../../shared/core/errors";
import type { ErrorCode } from "../../shared/core/errors";

/**
 * Expects a product error with this code whose text names field and value. A field is matched in the spelling of
 * either dialect: `leaseMs`, `lease_ms` and `LeaseMs` are one. The value may be cut to its beginning.
 */
export async function expectError(
  call: Promise<unknown>,
  expected: { code: ErrorCode; field?: string; value?: string | number },
): Promise<void> {
  const error = await call.then(
    () => new Error("nothing was thrown"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TaskgateError);
  if (!(error instanceof TaskgateError)) return;
  const text = `${error.code}: ${error.message}`;
  expect(text).toContain(`${expected.code}: `);
  if (expected.field !== undefined) expect(text).toMatch(fieldPattern(expected.field));
  if (expected.value !== undefined) expect(text).toContain(String(expected.value).slice(0, 100));
}

function fieldPattern(field: string): RegExp {
  return new RegExp(
    field.replace(/[A-Z]/g, (letter) => `_?${letter}`),
    "i",
  );
}
