import { QueueServiceClient } from "@azure/storage-queue";
import { messageOf } from "../core/foreign-value";
import { startAzurite } from "./azurite";
import { readLocalSettings } from "./local-app";
import type { RunPlan } from "./run-plan";
import { isEmulator } from "./worker-settings";

/** The queues of a run. */
export interface RunQueues {
  readonly connectionString: string;
  /** For people. */
  readonly title: string;
  /** Settles with its last words when the emulator of this run ends; never for one that another program has started. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/** The used part of a run's plan. */
export type QueuePlan = Pick<RunPlan, "say"> & {
  readonly app: Pick<RunPlan["app"], "root">;
  readonly options: Pick<RunPlan["options"], "hosts">;
};

const storage = "AzureWebJobsStorage";
const development = "UseDevelopmentStorage=true";
/** An emulator on a port of its own. */
const onThisMachine = /(?:^|;)\s*QueueEndpoint=http:\/\/(?:127\.0\.0\.1|localhost)[:/]/i;
const answerMaxMs = 2_000;

/**
 * Starts Azurite. Without workers of its own (`--hosts 0`) a run takes the emulator that local.settings.json names, where one
 * answers: another host, such as `func start`, has its messages there.
 */
export async function startQueues(plan: QueuePlan): Promise<RunQueues> {
  const others = plan.options.hosts === 0 ? await queuesOfOtherHost(plan) : null;
  return others ?? { ...(await startAzurite()), title: "Azurite, in memory" };
}

async function queuesOfOtherHost({ app, say }: QueuePlan): Promise<RunQueues | null> {
  const { [storage]: named = development } = readLocalSettings(app.root);
  if (!isEmulator(named) && !onThisMachine.test(named)) return null;
  const problem = await problemOf(named);
  if (problem === null)
    return {
      connectionString: named,
      title: `the emulator of ${storage} in local.settings.json`,
      exited: new Promise(() => undefined),
      stop: () => Promise.resolve(),
    };
  if (problem !== "absent")
    say(`The emulator of ${storage} in local.settings.json isn't used: ${problem}`);
  return null;
}

/** Null: the emulator answers. absent: nothing listens there. */
async function problemOf(connectionString: string): Promise<string | null> {
  const service = QueueServiceClient.fromConnectionString(connectionString, {
    retryOptions: { maxTries: 1 },
  });
  try {
    await service.getProperties({ abortSignal: AbortSignal.timeout(answerMaxMs) });
    return null;
  } catch (error) {
    const [text = ""] = messageOf(error).split("\n");
    return text.includes("ECONNREFUSED") ? "absent" : text;
  }
}
