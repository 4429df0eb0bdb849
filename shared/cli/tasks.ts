import { listableStates } from "../core/listable-states";
import { take } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import { looks } from "../admin/sentences";
import type { ListTasksRequest } from "../admin/task-list-request";
import { isSearch, statesOf } from "../admin/task-list";
import { maxOption, nameParameter, report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import { findTasks, renderFound } from "./find-tasks";
import { readOldest, renderOldest } from "./oldest-tasks";
import { refusal } from "./read-values";
import { listFilters, readErrorFilter, readFilters, stateOption } from "./task-filters";

/** `taskgate tasks NAME` */
export const tasksCommand: Command = {
  name: "tasks",
  group: "look",
  parameters: [nameParameter],
  options: {
    state: stateOption(
      listableStates,
      `One of ${listableStates.join(", ")}; several times for several. Default ready; of a search all.`,
    ),
    ...listFilters,
    all: { sentence: "A search looks at all tasks, not at 5,000." },
    oldest: { sentence: "The ready tasks that have waited longest, with their age." },
    max: maxOption(),
  },
  sentence: `${looks.tasks}.`,
  details: [
    "Unfinished tasks stand in the order in which they will start, ended ones newest first.",
    "A search looks at 5,000 tasks, state by state, and says where it stopped; with --where it also stops behind 4 MiB of payloads. A key finds the ready, scheduled or waiting task that holds it at once.",
    "Done tasks name no group.",
    "--oldest compares the ages of up to 1,000 ready tasks: those that start next, and the oldest of the first 100 of each priority.",
  ].join("\n"),
  examples: [
    { line: "taskgate tasks greet", sentence: "The tasks that start next." },
    {
      line: "taskgate tasks greet --state dead -n 10",
      sentence: "The last 10 failures, with their errors.",
    },
    { line: "taskgate tasks greet --oldest -n 5", sentence: "The 5 that have waited longest." },
    {
      line: "taskgate tasks greet --state dead --error 'it broke' --ended-since 1d",
      sentence: "The failures of a day with this text in their error.",
    },
    {
      line: "taskgate tasks greet --where name=Ada --ended-since 2h",
      sentence: "What became of Ada's tasks within two hours.",
    },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const query = readFilters(context, {
      state: context.lists["state"]?.join(","),
      max: context.options["max"],
    });
    if (context.flags.has("oldest")) return showOldest(context, definition, query);
    const fits = readErrorFilter(context);
    if (context.flags.has("all") && !isSearch(query) && fits === null)
      throw refusal("--all", "true", "it only together with a filter; -n N lists up to 1000");
    const found = await findTasks(context, definition, { query, fits });
    report(context, found, () =>
      renderFound({ found, definition, states: statesOf(query) }, context.output),
    );
    return exitCodes.ok;
  },
};

async function showOldest(
  context: CommandContext,
  definition: string,
  query: ListTasksRequest,
): Promise<CommandExitCode> {
  const states = statesOf(query);
  const hasFilter = isSearch(query) || context.options["error"] !== undefined;
  if (hasFilter || context.flags.has("all") || states.length > 1 || states[0] !== "ready") {
    const given = hasFilter || context.flags.has("all") ? "a filter" : states.join(", ");
    throw refusal("--oldest", given, "--state ready, or nothing, beside it");
  }
  const oldest = await readOldest(context.admin(), definition, query.max);
  report(context, oldest, () =>
    oldest.tasks.length === 0
      ? `No task of ${definition} is ready.`
      : renderOldest(oldest, context.output),
  );
  return exitCodes.ok;
}
