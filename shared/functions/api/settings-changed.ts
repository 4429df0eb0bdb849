import { invalidInput, showValue } from "../../admin/read-result";
import type { Tagged } from "./settings-tag";

/** The settings aren't those that the caller has read: nothing was changed. The answer tells what stands there. */
export class SettingsChanged extends Error {
  override readonly cause: Error;
  /** null: there is no such thing. */
  readonly current: Tagged | null;

  /** `asked`: the tags that the caller named. */
  constructor(asked: string, current: Tagged | null) {
    const expected =
      current === null
        ? "no If-Match: there is no such thing yet, and a change without the header makes it"
        : `${current.tag}, the tag of the settings as they stand in \`current\`: look at them, then repeat the change with it`;
    const problems = [{ field: "If-Match", value: showValue(asked), expected }];
    const cause = invalidInput(problems, "TASKGATE_ARG_CONFLICT");
    super(cause.message);
    this.cause = cause;
    this.current = current;
  }
}
