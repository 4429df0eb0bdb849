import { refusedField } from "../../core/refused-field";
import type { CallLimit } from "./call-limits";

/**
 * The limits of functions and calls that one process uses, by name. A place that leaves the number out has that of another
 * place. Rate and lease are the same in all places.
 */
export class KnownLimits {
  readonly #known = new Map<string, CallLimit>();

  /** With what other places have said. Throws InvalidArgumentError, naming the field, where they said something else. */
  note(given: CallLimit): CallLimit {
    const known = this.#known.get(given.name);
    if (known === given) return given;
    if (known !== undefined) {
      expectSame(known, given);
      if (known.limit !== undefined || given.limit === undefined) return known;
    }
    this.#known.set(given.name, given);
    return given;
  }
}

function expectSame(known: CallLimit, given: CallLimit): void {
  if (known.limit !== undefined && given.limit !== undefined) expectEqual("limit", known, given);
  expectEqual("rate", known, given);
  expectEqual("leaseMs", known, given);
}

function expectEqual(
  field: "limit" | "rate" | "leaseMs",
  known: CallLimit,
  given: CallLimit,
): void {
  const [first = "none", second = "none"] = [known, given].map((limit) =>
    limit[field] === undefined ? "none" : JSON.stringify(limit[field]),
  );
  if (first === second) return;
  throw refusedField(
    field,
    `${first} (${second}), as this process uses limit ${given.name} with it already: define the limit once and import it`,
  );
}
