import type { Decorator } from "./document";
import type { ParameterValue } from "./bicepparam";

/** Tells how a value breaks @minValue, @maxValue, @minLength, @maxLength or @allowed. */
export function checkBounds(
  value: ParameterValue,
  decorators: readonly Decorator[],
): string | undefined {
  for (const { name, arguments: given } of decorators) {
    const bound = Number(given[0]?.text);
    const size = sizeOf(value, name);
    if (name === "allowed" && typeof value === "number") {
      const options = given[0]?.namedChildren.map((option) => Number(option?.text)) ?? [];
      if (!options.includes(value)) {
        return `${String(value)} is not one of ${options.join(", ")}`;
      }
    }
    if (size === undefined) {
      continue;
    }
    if (name.startsWith("min") && size < bound) {
      return `${String(size)} is less than ${String(bound)}`;
    }
    if (name.startsWith("max") && size > bound) {
      return `${String(size)} is more than ${String(bound)}`;
    }
  }
  return undefined;
}

function sizeOf(value: ParameterValue, decorator: string): number | undefined {
  if (/^(min|max)Value$/.test(decorator)) {
    return typeof value === "number" ? value : undefined;
  }
  if (/^(min|max)Length$/.test(decorator)) {
    return typeof value === "string" || Array.isArray(value) ? value.length : undefined;
  }
  return undefined;
}
