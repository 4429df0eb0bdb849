import { InvalidArgumentError } from "./errors";

/** The error of a value: it names the field and what is expected, and ends with what was given, in brackets. */
export function refusedField(field: string, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(`${field}: expected ${expected}`, { details: { field } });
}
