/** The settings aren't those that the caller expected: another change came first, and nothing was written. */
export class SettingsConflict extends Error {
  constructor() {
    super("the settings were changed meanwhile");
  }
}

/** The status of a change that was made. Throws SettingsConflict. */
export function withoutConflict<Status extends string>(
  status: Status | "conflict",
): Exclude<Status, "conflict"> {
  if (status === "conflict") throw new SettingsConflict();
  return status as Exclude<Status, "conflict">;
}
