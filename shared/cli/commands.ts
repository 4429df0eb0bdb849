import { auditCommand } from "./audit";
import { batchCommand } from "./batch";
import { batchesCommand } from "./batches";
import { cancelCommand } from "./cancel";
import type { Command } from "./command";
import { createCompletionCommand } from "./completion";
import { definitionsCommand } from "./definitions";
import { devCommand } from "./dev";
import { doctorCommand } from "./doctor";
import { ejectCommand } from "./eject";
import { enqueueCommand } from "./enqueue";
import { executionsCommand } from "./executions";
import { explainCommand } from "./explain";
import { exportCommand } from "./export";
import { failuresCommand } from "./failures";
import { groupCommand } from "./group";
import { groupsCommand } from "./groups";
import { initCommand } from "./init";
import { limitCommand } from "./limit";
import { limitsCommand } from "./limits";
import { migrateCommand } from "./migrate";
import { ownerCommand } from "./owner";
import { pauseCommand } from "./pause";
import { rateCommand } from "./rate";
import { redriveCommand } from "./redrive";
import { replayCommand } from "./replay";
import { rescheduleCommand } from "./reschedule";
import { resumeCommand } from "./resume";
import { scheduleCommand } from "./schedule";
import { schedulesCommand } from "./schedules";
import { stampCommand } from "./stamp";
import { statisticsCommand } from "./statistics";
import { statusCommand } from "./status";
import { stopCommand } from "./stop";
import { tasksCommand } from "./tasks";
import { topCommand } from "./top";
import { versionCommand } from "./version";
import { watchable } from "./watch";
import { watermarkCommand } from "./watermark";
import { watermarksCommand } from "./watermarks";
import { workCommand } from "./work";

/** All commands, in the order of the help text. */
export const commands: readonly Command[] = [
  watchable(statusCommand),
  watchable(topCommand),
  watchable(statisticsCommand),
  watchable(definitionsCommand),
  watchable(limitsCommand),
  watchable(executionsCommand),
  watchable(tasksCommand),
  watchable(failuresCommand),
  watchable(explainCommand),
  watchable(groupsCommand),
  watchable(schedulesCommand),
  watchable(watermarksCommand),
  watchable(batchesCommand),
  watchable(auditCommand),
  exportCommand,
  enqueueCommand,
  watchable(limitCommand),
  rateCommand,
  ownerCommand,
  pauseCommand,
  resumeCommand,
  stopCommand,
  cancelCommand,
  redriveCommand,
  rescheduleCommand,
  groupCommand,
  scheduleCommand,
  watermarkCommand,
  watchable(batchCommand),
  replayCommand,
  migrateCommand,
  stampCommand,
  doctorCommand,
  workCommand,
  initCommand,
  devCommand,
  ejectCommand,
  createCompletionCommand(() => commands),
  versionCommand,
];
