import type { CommandContext, CommandOption } from "./command";
import { numberOf, readTime, refusal, runInMax } from "./read-values";

/** Options that say of added tasks what their payload doesn't. */
export const taskOptions = {
  kind: { valueName: "NAME", sentence: "Handler; default: the definition's own name." },
  "allow-unknown-kind": {
    sentence: "Allows a handler that the app beside this command doesn't have.",
  },
  priority: { valueName: "N", sentence: "Lower first, -32768..32767; default 100." },
  group: {
    valueName: "KEY",
    sentence: "Tasks of one group run one after the other; default: the handler's own rule.",
  },
  "no-group": {
    sentence: "No group, also where the handler's code would choose one by a function.",
  },
  "run-in": { valueName: "TIME", sentence: "The earliest start, from now: 90s, 10m, 2h, 1d." },
  "run-at": {
    valueName: "INSTANT",
    sentence: "The earliest start as an instant: 2030-01-31T08:30:00Z.",
  },
} as const satisfies Record<string, CommandOption>;

/** The members of a task that these options name, as an enqueue takes them; not checked yet. */
export function membersOf(context: CommandContext): Readonly<Record<string, unknown>> {
  const { kind, group } = context.options;
  if (group !== undefined && context.flags.has("no-group")) {
    throw refusal("--group", group, "either --group or --no-group, not both");
  }
  return {
    kind,
    group: context.flags.has("no-group") ? null : group,
    priority: numberOf(context.options["priority"]),
    ...readStart(context),
  };
}

/** The earliest start; neither: now. */
function readStart({ options }: CommandContext): { runInMs?: number; runAt?: string } {
  const { "run-in": wait, "run-at": instant } = options;
  if (wait !== undefined && instant !== undefined)
    throw refusal("--run-at", instant, "either --run-in or --run-at, not both");
  if (instant !== undefined) return { runAt: instant };
  return wait === undefined ? {} : { runInMs: readTime("--run-in", wait, { max: runInMax }) };
}
