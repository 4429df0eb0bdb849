import { InvalidArgumentError } from "./errors";

/** The error of a value: it names the field and the expectation, and ends with the given value, in brackets. */
export function refusedField(field: string, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(`${field}: expected ${expected}`, { details: { field } });
}
