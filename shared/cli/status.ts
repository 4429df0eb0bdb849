import { report } from "./command";
import type { Command } from "./command";
import { renderDefinitions } from "./definitions";
import { exitCodes } from "./exit-codes";
import { showCount, showDuration } from "./output";

/** `taskgate status` */
export const statusCommand: Command = {
  name: "status",
  parameters: [],
  options: {},
  sentence: "All definitions at a glance: limits, what runs, what waits.",
  run: async (context) => {
    const admin = await context.admin();
    const status = await admin.status();
    report(context, status, () => {
      const { totals } = status;
      const { settings, origin } = context.target();
      const due = describeDue(status.nextDueMs);
      const expired =
        status.expired === 0 ? "" : `, ${String(status.expired)} executions past their lease`;
      const lines = [
        `${status.dialect} database (${origin}), schema ${settings.schema}`,
        `${String(totals.executions)} executions run ${showCount(totals.claimed)} tasks; ${showCount(totals.ready)} ready, ${showCount(totals.scheduled)} scheduled, ${showCount(totals.waiting)} waiting for a group, ${showCount(totals.dead)} dead; ${due}${expired}`,
      ];
      return [...lines, "", renderDefinitions(status.definitions, context.output.columns)].join(
        "\n",
      );
    });
    return exitCodes.ok;
  },
};

function describeDue(nextDueMs: number | null): string {
  if (nextDueMs === null) return "nothing scheduled";
  return nextDueMs === 0 ? "some are due now" : `next due in ${showDuration(nextDueMs)}`;
}
