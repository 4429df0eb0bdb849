import { TaskgateError } from "../core/errors";
import type { Admin } from "./create-admin";

/**
 * The admin of an app that has definitions of its own. A definition or schedule that the database doesn't know yet, but
 * the app does, is registered when it is first named, and the call is made again: no call waits for the first sweep.
 * `makeKnown` registers what the app has where the name is among it, and answers whether it is.
 */
export function withOwnDefinitions(
  admin: Admin,
  makeKnown: (definition: string) => Promise<boolean>,
): Admin {
  const again = async <Result>(
    definition: string | undefined,
    call: () => Promise<Result>,
  ): Promise<Result> => {
    try {
      return await call();
    } catch (error) {
      if (definition === undefined || !isUnknown(error)) throw error;
      if (!(await makeKnown(definition))) throw error;
      return call();
    }
  };
  /** For calls whose request names its definition so. */
  const naming =
    <Request extends { definition?: string | undefined }, Result>(
      call: (request: Request) => Promise<Result>,
    ) =>
    (request: Request): Promise<Result> =>
      again(request.definition, () => call(request));
  /** For lists that may be of one definition. */
  const listing =
    <Request extends { name?: string | undefined }, Result>(
      call: (request: Request) => Promise<Result>,
    ) =>
    (request: Request): Promise<Result> =>
      again(request.name, () => call(request));
  return {
    ...admin,
    definitions: (name) => again(name, () => admin.definitions(name)),
    executions: naming(admin.executions),
    tasks: naming(admin.tasks),
    enqueue: naming(admin.enqueue),
    setLimit: naming(admin.setLimit),
    setRate: naming(admin.setRate),
    setOwner: naming(admin.setOwner),
    pause: naming(admin.pause),
    resume: naming(admin.resume),
    redrive: (request) =>
      again("name" in request ? request.name : undefined, () => admin.redrive(request)),
    failures: naming(admin.failures),
    redriveFailures: naming(admin.redriveFailures),
    statistics: naming(admin.statistics),
    pace: (definition, read) => again(definition, () => admin.pace(definition, read)),
    setGroup: naming(admin.setGroup),
    setWatermark: naming(admin.setWatermark),
    schedule: naming(admin.schedule),
    pauseSchedule: naming(admin.pauseSchedule),
    resumeSchedule: naming(admin.resumeSchedule),
    runSchedule: naming(admin.runSchedule),
    watermarks: listing(admin.watermarks),
    schedules: listing(admin.schedules),
    groups: listing(admin.groups),
  };
}

function isUnknown(error: unknown): boolean {
  return error instanceof TaskgateError && error.code === "TASKGATE_ARG_UNKNOWN";
}
