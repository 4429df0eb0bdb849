/*
 * What commands and routes do, each said once: the help of the command line, the OpenAPI document and the reference pages have
 * the texts from here. They have no full stop.
 */

/** What a definition's settings are. */
const settings = {
  limit: "how many tasks may run at once",
  rate: "how many tasks may start per period",
  owner: "the app that runs a definition's tasks",
  watermark: "a watermark: how far blocks have been made",
} as const;

/** Of commands that show a setting as well. */
export const showsOrSets = {
  limit: `Shows or sets ${settings.limit}`,
  rate: `Shows or sets ${settings.rate}`,
  owner: `Shows or sets ${settings.owner}`,
  watermark: `Shows or sets ${settings.watermark}`,
} as const;

/** Of routes that change one. */
export const sets = {
  limit: `Sets ${settings.limit}`,
  sharedLimit: `Sets ${settings.limit}, over all definitions that share the limit`,
  rate: `Sets ${settings.rate}`,
  owner: `Sets ${settings.owner}`,
  watermark: `Sets ${settings.watermark}`,
} as const;

const paceOf = "oldest task, time left, slow tasks";

/** What is looked at. */
export const looks = {
  status: "Shows all definitions with their limits, running and waiting tasks",
  definitions: "Lists task definitions",
  definition: "Shows all settings of a definition",
  sharedLimits: "Lists the limits that definitions share",
  tasks:
    "Lists tasks of a definition by state, or finds them by key, group, batch, time, payload or error",
  groups: "Lists groups with their slots, the used ones and the waiting tasks",
  schedules: "Lists schedules with their next and last run, in UTC",
  watermarks: "Lists watermarks: how far blocks have been made",
  audit: "Lists changes with their actors and reasons, newest first",
  executions: "Lists executions, the workers that hold tokens, newest first",
  explain: "Tells why a task runs, waits or has ended",
  batches: "Lists batches with their progress, newest first",
  batch: "Shows a batch with its waves",
  failures: "Lists dead tasks by error, most first",
  pace: `Shows the pace of a definition: ${paceOf}`,
  paces: `Shows the pace of definitions that are in trouble or busy: ${paceOf}`,
  statistics: "Shows throughput, durations and held tokens over time",
  summaries: "Counts the tasks that ended within the last two hours, by definition and ten minutes",
  stop: "Shows the stop that is in force, with the paused definitions and schedules",
} as const;

/** What is done to all tasks of a definition or a batch, or to some. */
export const acts = {
  enqueue: "Adds tasks to a definition and wakes a worker",
  pause: "Stops starting tasks of a definition; running ones finish",
  resume: "Starts tasks of a paused definition again",
  group: "Sets a group's slots, pauses or resumes it",
  pauseSchedule: "Pauses a schedule: it adds no task until it is resumed",
  resumeSchedule: "Resumes a schedule with its next instant from now",
  runSchedule: "Adds the task of a schedule now; its next instant stays",
  cancel: "Ends waiting tasks and asks running ones to end",
  redrive: "Retries dead or cancelled tasks; their ids stay",
  redriveFailures: "Retries dead tasks of one error; their ids stay",
  reschedule: "Changes when waiting tasks run",
  stop: "Pauses all definitions and schedules; running tasks finish",
  resumeAll: "Resumes the definitions and schedules that a stop has paused, and no others",
  resumeBatch: "Resumes a halted batch with its next wave",
  cancelBatch: "Cancels a batch: its waiting tasks end, running ones are asked to end",
} as const;
