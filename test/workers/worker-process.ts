import { createStorageQueueWakeUp } from "../../shared/platform/storage-queue-wake-up";
import type { Logger } from "../../shared/ports/logger";
import { noTelemetry } from "../../shared/ports/telemetry";
import { TaskClient } from "../../shared/worker/client/client";
import type { WorkerEnvironment } from "../../shared/worker/environment";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { LimitPools } from "../../shared/worker/run/limit-pools";
import { register } from "../../shared/worker/client/register";
import { createRegistry } from "../../shared/worker/define/registry";
import type { Registry } from "../../shared/worker/define/registry";
import { purge } from "../../shared/worker/run/purge";
import { reclaim, runWorker } from "../../shared/worker/run/run-worker";
import type { Host } from "./host";
import { createKinds } from "./kinds";
import type { Definitions, Manners, RunObserver } from "./kinds";
import type { Plant } from "./plant";
import { connect } from "./remote-store";
import type { NetworkOptions } from "./remote-store";
import type { AnyTaskKind } from "../../shared/worker/define/task-kind";

/** One process with the shipped worker in it. */
export interface WorkerProcess {
  readonly host: Host;
  readonly environment: WorkerEnvironment;
  readonly registry: Registry;
  readonly kinds: readonly AnyTaskKind[];
  readonly heartbeat: Heartbeat;
  readonly client: TaskClient;
  readonly tokens: LimitPools;
}

/** What a process is started with. */
export interface BootOptions extends Pick<
  NetworkOptions,
  "host" | "time" | "chance" | "database" | "faults"
> {
  readonly plant: Plant | null;
  readonly definitions: Definitions;
  readonly manners: () => Manners;
  readonly observer: RunObserver;
  readonly sendHint: (text: string, delaySeconds: number) => void;
}

const quiet = (): void => undefined;
const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Puts the shipped parts together, as shared/functions/runtime.ts does, over this host's clock, timers and network. */
export function bootWorker(options: BootOptions): WorkerProcess {
  const { host, chance, plant } = options;
  const plain: WorkerEnvironment = {
    store: connect({ ...options, renewIds: plant?.renewsIds ?? false }),
    wakeUp: createStorageQueueWakeUp({
      queue: {
        send: async (text, delaySeconds) => {
          if (host.step()) options.sendHint(text, delaySeconds);
        },
      },
      clock: host.clock,
      timers: host.timers,
      logger,
    }),
    clock: host.clock,
    timers: host.timers,
    random: chance.random,
    logger,
    telemetry: noTelemetry,
    workerName: host.name,
    build: 1,
  };
  const environment = plant?.environment?.(plain) ?? plain;
  const kinds = createKinds(options);
  const registry = createRegistry(kinds);
  const heartbeat = plant?.heartbeat?.(environment) ?? new Heartbeat(environment);
  return {
    host,
    environment,
    kinds,
    registry,
    heartbeat,
    tokens: new LimitPools(environment, heartbeat),
    client: new TaskClient(environment, registry),
  };
}

/** One invocation of shared/functions/run.ts. */
export async function work(
  { host, environment, registry, heartbeat }: WorkerProcess,
  definition: string,
  bounds: { lastsMs: number; marginMs: number },
): Promise<void> {
  await runWorker(
    {
      environment,
      registry,
      heartbeat,
      concurrencyPerWorker: 4,
      idleReads: 1,
      idlePauseMs: 100,
    },
    definition,
    {
      deadlineMs: host.clock.monotonicMs() + bounds.lastsMs,
      marginMs: bounds.marginMs,
      signal: new AbortController().signal,
    },
  );
}

/** One tick: what shared/functions/sweep.ts does; the first one makes the definitions known. */
export async function sweep(
  { environment, registry }: WorkerProcess,
  isFirst: boolean,
): Promise<void> {
  if (isFirst)
    for (const definition of registry.definitions) await register(environment, definition);
  const found = await environment.store.sweep({ max: 1_000 });
  if (found.expired > 0) await reclaim(environment);
  for (const definition of found.definitions)
    if (!definition.paused && definition.free > 0) await environment.wakeUp.hint(definition.name);
  if (found.isPurgeable) await purge(environment, environment.clock.monotonicMs() + 5_000);
}
