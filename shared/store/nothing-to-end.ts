import { InvalidArgumentError } from "../core/errors";

/** A completion was told to end its transaction, and there is none. */
export function nothingToEnd(): InvalidArgumentError {
  return new InvalidArgumentError(
    "endsTransaction: expected a transaction to end, got none. Leave it out, or call within `transaction`",
    { details: { field: "endsTransaction" } },
  );
}
