import { textBytes } from "../storage/stored-size";
import type { SqlValue } from "../values";
import type { Scalar } from "./expression";
import type { Frame } from "./frame";
import { isText } from "./types";

/** The same value; where it may be long, a meter is told of each time that somebody reads it from end to end. */
export function meteredText(scalar: Scalar): Scalar {
  const { type, collation } = scalar;
  if (!isText(type) || type.length !== "max") return scalar;
  const note = (value: SqlValue, frame: Frame): SqlValue => {
    const { meter } = frame.connection;
    if (meter !== undefined && typeof value === "string")
      meter.passed(textBytes(value, type, collation.name));
    return value;
  };
  const { evaluate, run } = scalar;
  return {
    ...scalar,
    evaluate: (frame) => note(evaluate(frame), frame),
    run:
      run === undefined
        ? undefined
        : function* (frame) {
            return note(yield* run(frame), frame);
          },
  };
}
