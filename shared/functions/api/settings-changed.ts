import { invalidInput, showValue } from "../../admin/read-result";
import type { AuditEntry } from "../../ports/task-store";
import type { Tagged } from "./settings-tag";

/** The settings aren't those that the caller has read: nothing was changed. The answer tells the current ones. */
export class SettingsChanged extends Error {
  override readonly cause: Error;
  /** null: there is no such thing. */
  readonly current: Tagged | null;
  /** The newest change of these settings, with its actor; null: the audit has none. */
  readonly lastChange: AuditEntry | null;

  /** `asked`: the tags that the caller named. */
  constructor(asked: string, current: Tagged | null, lastChange: AuditEntry | null = null) {
    const expected =
      current === null
        ? "no If-Match: there is no such thing yet, and a change without the header makes it"
        : `${current.tag}, the tag of the settings as they stand in \`current\`: look at them, then repeat the change with it`;
    const problems = [{ field: "If-Match", value: showValue(asked), expected }];
    const cause = invalidInput(problems, "TASKGATE_ARG_CONFLICT");
    super(cause.message);
    this.cause = cause;
    this.current = current;
    this.lastChange = lastChange;
  }
}
