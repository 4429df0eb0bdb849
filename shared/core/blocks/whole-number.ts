import { refusedField } from "../refused-field";
import { cleanText } from "../text";

/** A whole number of 64 bits, as code or either driver has it; in texts decimal digits. */
export type WholeNumber = number | bigint | string;

const least = -(2n ** 63n);
const greatest = 2n ** 63n - 1n;

/** As a bigint; throws InvalidArgumentError naming the field unless it is exact and has at most 64 bits. */
export function wholeNumber(field: string, value: WholeNumber): bigint {
  const isWhole =
    typeof value === "bigint" ||
    (typeof value === "number" ? Number.isSafeInteger(value) : /^-?[0-9]{1,19}$/.test(value));
  const number = isWhole ? BigInt(value) : null;
  if (number !== null && number >= least && number <= greatest) return number;
  throw refusedField(
    field,
    `a whole number of 64 bits, exact or as text (${cleanText(String(value), 100)})`,
  );
}
