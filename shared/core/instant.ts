import { InvalidArgumentError } from "./errors";
import { wrongValue } from "./wrong-value";

/** The milliseconds of a Date since 1970; throws InvalidArgumentError naming the field unless it is one. */
export function instantMs(field: string, value: Date): number {
  if (!isDate(value)) throw wrongValue(field, "an instant as a Date", value);
  const ms = value.getTime();
  if (!Number.isNaN(ms)) return ms;
  throw new InvalidArgumentError(`${field}: expected an instant (Invalid Date)`, {
    details: { field },
  });
}

/** Also one of another realm, such as that of a test runner's outside. */
function isDate(value: unknown): boolean {
  return Object.prototype.toString.call(value) === "[object Date]";
}
