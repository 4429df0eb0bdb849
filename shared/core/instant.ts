import { refusedField } from "./refused-field";
import { wrongValue } from "./wrong-value";

/** What the databases keep: SQL Server's datetime2 knows no other years. */
const first = Date.parse("0001-01-01T00:00:00.000Z");
const last = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * The milliseconds of a Date since 1970. Throws InvalidArgumentError, naming the field, unless it is one of the years 1 to 9999.
 */
export function instantMs(field: string, value: Date): number {
  if (!isDate(value)) throw wrongValue(field, "an instant as a Date", value);
  const ms = value.getTime();
  if (ms >= first && ms <= last) return ms;
  if (Number.isNaN(ms)) throw refusedField(field, "an instant (Invalid Date)");
  throw refusedField(field, `an instant of the years 1 to 9999 (${value.toISOString()})`);
}

/** Also one of another realm, such as that of a test runner's outside. */
function isDate(value: unknown): boolean {
  return Object.prototype.toString.call(value) === "[object Date]";
}
