import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AppSettings } from "./functions-host/app-settings";
import { readHostSettings } from "./functions-host/host-json";
import type { HostSettings } from "./functions-host/host-json";

/** The setting that must equal `functionTimeout`, and its default. */
const timeoutSetting = "TASKGATE_FUNCTION_TIMEOUT_MS";
const timeoutDefaultMs = 600_000;
/** The host's own default of `batchSize`. */
const usualBatchSize = 16;
/** A hint may wait that long without notice; the template has 2 s. */
const pollingMaxMs = 10_000;
const polling = "maxPollingInterval";

/**
 * Advice on an app's host.json, a sentence or two each. No member is wrong: Taskgate works under each. null: the folder has
 * no host.json. Throws an Error that names a member which the host would refuse.
 */
export async function adviseOnHost(
  folder: string,
  settings: AppSettings,
): Promise<readonly string[] | null> {
  if (!existsSync(join(folder, "host.json"))) return null;
  const host = await readHostSettings(folder, settings);
  return [
    ...adviseOnTimeout(host, Number(settings[timeoutSetting] ?? timeoutDefaultMs)),
    ...adviseOnQueues(host),
    ...adviseOnRoutes(host),
  ];
}

function adviseOnTimeout(settings: HostSettings, settingMs: number): string[] {
  if (!settings.has("functionTimeout"))
    return [
      `functionTimeout isn't set: the host ends the whole process after 5 minutes on a Consumption plan, else after 30. ${timeoutSetting} is ${String(settingMs)} ms. Make them equal.`,
    ];
  const { functionTimeoutMs } = settings;
  if (functionTimeoutMs === settingMs) return [];
  const host = functionTimeoutMs === null ? "none" : `${String(functionTimeoutMs)} ms`;
  return [
    `functionTimeout is ${host}, ${timeoutSetting} ${String(settingMs)} ms: the host ends the whole process at its timeout. Make them equal.`,
  ];
}

function adviseOnQueues(settings: HostSettings): string[] {
  const { queues } = settings;
  const { batchSize, newBatchThreshold, maxDequeueCount, messageEncoding } = queues;
  const atOnce = String(batchSize + newBatchThreshold);
  return [
    ...(messageEncoding === "none"
      ? [
          "messageEncoding is none: Taskgate follows it. Programs outside the app must send plain texts to its queues, too.",
        ]
      : []),
    ...(maxDequeueCount === 1
      ? [
          "maxDequeueCount is 1: a message goes to the poison queue when its process dies once. A message without a token uses up no try.",
        ]
      : []),
    ...(batchSize > usualBatchSize
      ? [
          `batchSize is ${String(batchSize)}: each function of an instance runs up to ${atOnce} messages. Far above a limit, most of them wait for a token and become tasks.`,
        ]
      : []),
    ...adviseOnPolling(settings),
  ];
}

/** https://learn.microsoft.com/azure/azure-functions/functions-bindings-storage-queue#host-json */
function adviseOnPolling({ has, queues }: HostSettings): string[] {
  const isSet = has(`extensions.queues.${polling}`);
  if (isSet && queues.maxPollingIntervalMs <= pollingMaxMs) return [];
  const rule = isSet
    ? `is ${String(queues.maxPollingIntervalMs)} ms`
    : "isn't set, and Azure's default is a minute";
  return [
    `${polling} ${rule}: a hint or an event may wait that long in a queue that was empty. The template has 00:00:02 (extensions.queues).`,
  ];
}

function adviseOnRoutes({ routePrefix }: HostSettings): string[] {
  if (routePrefix === "api") return [];
  const path = [routePrefix, "taskgate/dashboard"].filter((part) => part !== "").join("/");
  return [`routePrefix is \`${routePrefix}\`: the dashboard is ${path}.`];
}
