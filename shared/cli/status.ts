import { looks } from "../admin/sentences";
import { describeStop } from "../admin/stop-actions";
import { report } from "./command";
import type { Command, CommandContext } from "./command";
import { definitionsDetails, renderDefinitions } from "./definitions";
import type { StatusReport } from "../admin/create-admin";
import { showCount, showDuration, showNumber } from "../terminal/output";
import { printable } from "../terminal/text-width";

/** `taskgate status` */
export const statusCommand: Command = {
  name: "status",
  group: "look",
  parameters: [],
  options: {},
  sentence: `${looks.status}.`,
  details: definitionsDetails,
  examples: [
    { line: "taskgate status", sentence: "All definitions at a glance." },
    { line: "taskgate status --watch", sentence: "The same again every 2 s, until Ctrl+C." },
    { line: "taskgate status --json", sentence: "The same as one JSON document." },
  ],
  run: async (context) => {
    const admin = context.admin();
    const status = await admin.status();
    const stop = await admin.stopState();
    report(context, { ...status, stop }, () => {
      const lines = [placeOf(context, status), describeWork(status)];
      if (stop !== null) lines.push(printable(describeStop(stop)));
      return [...lines, "", renderDefinitions(status.definitions, context.output)].join("\n");
    });
  },
};

function placeOf(context: CommandContext, { dialect }: StatusReport): string {
  const app = context.app();
  if (app !== null)
    return `${printable(dialect)} database of the app at ${app.base} (${app.origin})`;
  const { settings, origin } = context.target();
  return `${dialect} database (${origin}), schema ${settings.schema}`;
}

/** Running and waiting tasks, in one line. */
export function describeWork({
  totals,
  nextDueMs,
  expired,
}: Pick<StatusReport, "totals" | "nextDueMs" | "expired">): string {
  const running = `${showNumber(totals.executions, "execution runs", "executions run")} ${showNumber(totals.running, "task", "tasks")}`;
  const ahead = totals.prefetched === 0 ? "" : `, ${showCount(totals.prefetched)} prefetched`;
  const waiting = `${showCount(totals.ready)} ready, ${showCount(totals.scheduled)} scheduled, ${showCount(totals.waiting)} waiting for a group, ${showCount(totals.dead)} dead`;
  const late =
    expired === 0
      ? ""
      : `, ${showNumber(expired, "execution past its lease", "executions past their lease")}`;
  return `${running}${ahead}; ${waiting}; ${describeDue(nextDueMs)}${late}`;
}

function describeDue(nextDueMs: number | null): string {
  if (nextDueMs === null) return "nothing scheduled";
  return nextDueMs === 0 ? "some are due now" : `next due in ${showDuration(nextDueMs)}`;
}
