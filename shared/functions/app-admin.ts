import { createAdmin } from "../admin/create-admin";
import type { Admin } from "../admin/create-admin";
import { completeTasks } from "../worker/client/complete-tasks";
import type { WorkerEnvironment } from "../worker/environment";
import type { Registry } from "../worker/define/registry";
import type { Definition } from "../worker/define/task-kind";
import { registerBuild } from "../worker/run/schedules";

/** Does the definition draw from the shared limit of that name? */
function drawsFrom({ settings }: Definition, sharedLimit: string): boolean {
  return settings.sharedLimits?.some(({ name }) => name === sharedLimit) === true;
}

/** The admin of the HTTP API: may name what the app has before any worker or sweep has made it known. */
export function createAppAdmin(
  environment: WorkerEnvironment,
  registry: Registry,
  traceUrl: string | null = null,
): Admin {
  const { store, wakeUp, random, timers, build, telemetry } = environment;
  const currentTraceParent = (): string | null => telemetry.currentTraceParent();
  const registerIf = async (isOwn: boolean): Promise<boolean> => {
    if (isOwn) await registerBuild(environment, registry);
    return isOwn;
  };
  return createAdmin({
    store,
    wakeUp,
    onEnqueued: (tasks) => {
      telemetry.count("taskgate.task.enqueued", tasks);
    },
    random,
    timers,
    build,
    currentTraceParent,
    traceUrl,
    completeTasks: async (call, rows) => {
      // The owner's code knows its kinds, and gets its hints.
      await environment.app?.require(call.definition);
      return completeTasks(registry, call, rows);
    },
    makeKnown: (name) => registerIf(registry.definition(name) !== null),
    makeSharedKnown: (name) =>
      registerIf(registry.definitions.some((each) => drawsFrom(each, name))),
  });
}
