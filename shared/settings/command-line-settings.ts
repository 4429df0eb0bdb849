/**
 * Variables that only the command line reads: the app that it asks in place of a database, and its sign-in there. They are no
 * settings of an app, which ignores them.
 */
export const commandLineNames = [
  "TASKGATE_URL",
  "TASKGATE_FUNCTION_KEY",
  "TASKGATE_TOKEN",
] as const;
