import type {
  app,
  FunctionHandler,
  InvocationContext,
  StorageQueueHandler,
} from "@azure/functions";
import { hasMember } from "../core/foreign-value";
import { requireOwnFiles } from "../core/own-files";
import { checkNames } from "../core/known-names";
import { checkKey } from "../core/text";
import { checkFunction, checkList, wrongValue } from "../core/wrong-value";
import { loadTriggerSettings } from "../settings/load-settings";
import { checkOpenTelemetry } from "../platform/own-open-telemetry";
import type { TaskClient } from "../worker/client/client";
import type { EventRoute } from "../worker/define/ingest-event";
import { checkTasks, createRegistry } from "../worker/define/registry";
import type { CallLimits } from "../worker/run/call-limits";
import type { WithTokensAnswer } from "../worker/run/with-tokens";
import { placeRoute } from "./api/prefix";
import type { ApiPlace } from "./api/prefix";
import { createApiRoutes } from "./api/routes";
import type { AppParts } from "./app-parts";
import { createDashboardRoutes } from "./dashboard/routes";
import { defer } from "./defer";
import { createEnqueueCalls } from "./enqueue-calls";
import type { AppEnqueueCalls } from "./enqueue-calls";
import { ingest } from "./ingest";
import { limited } from "./limited";
import type { LimitedCall, WrappedHandler } from "./limited";
import { run } from "./run";
import { noteGate } from "./gates";
import { workResident } from "./resident";
import type { WorkOptions } from "./resident";
import { AppProcess } from "./runtime";
import { sweep } from "./sweep";
import { leaveCtrlCToHost } from "./ctrl-c";
import { createTraceHook } from "./telemetry-hooks";
import { withTokens } from "./with-tokens";
import type { TokenCall } from "./with-tokens";

/** The part of `app` of `@azure/functions` that Taskgate registers with. */
export type FunctionApp = Pick<typeof app, "http" | "hook" | "storageQueue" | "timer">;

/** A storage queue's function, as `app.storageQueue` takes it. */
export interface QueueFunction {
  readonly queueName: string;
  /** The app setting that names the storage; the host looks it up. */
  readonly connection: string;
  readonly handler: StorageQueueHandler;
}

/** A timer's function, as `app.timer` takes it. */
export interface TimerFunction {
  readonly schedule: string;
  readonly handler: FunctionHandler;
}

/** Names of the functions, for an app that has functions of these names; and where the API lies. */
export interface RegisterOptions {
  readonly names?: { readonly run?: string; readonly sweep?: string; readonly ingest?: string };
  /** `false` leaves the HTTP API and the dashboard out. */
  readonly api?: ApiPlace | false;
}

/** Taskgate in a function app: the functions to register, and what the app's own functions use. */
export interface Gate extends AppEnqueueCalls {
  /** For `app.storageQueue`: a hint wakes a worker, which takes tokens, claims tasks, runs them and ends. */
  readonly run: QueueFunction;
  /** For `app.storageQueue`: events become tasks. */
  readonly ingest: QueueFunction;
  /** For `app.timer`: finds the work that a lost hint or a dead worker left behind. */
  readonly sweep: TimerFunction;
  /** Registers the HTTP API and the dashboard. */
  api(app: FunctionApp, options?: ApiPlace): void;
  /** Registers the hooks: traces, and the clean end of the process. */
  hooks(app: FunctionApp): void;
  /** Registers all of the above in one call. */
  register(app: FunctionApp, options?: RegisterOptions): void;
  /** Runs `body` with the client of this process: tasks, batches and watermarks. The end of the process waits for it. */
  use<Result>(body: (client: TaskClient) => Promise<Result>): Promise<Result>;
  /**
   * Runs a body on tokens of a limit, over all instances and apps that share the database:
   * `withTokens(limit, body)` or `withTokens(limit, options, body)`; up to 8 limits as a list. Answers `{ ran: true, value }`, or
   * `{ ran: false, reason, retryInMs }`. Throws what the body throws, and StoreUnavailableError without the database: 4 s after
   * `waitMs` at the latest.
   */
  withTokens<Result>(
    limit: CallLimits,
    ...call: TokenCall<Result>
  ): Promise<WithTokensAnswer<Result>>;
  /**
   * Wraps the handler of any function, so that it runs at most as often at once as the limit says:
   * `limited(limit, handler)` or `limited(limit, options, handler)`. Of several limits, `limited([one, other], handler)`, an
   * invocation takes a token of each in one decision; it holds none while it waits. It waits up to `waitMs`; then `overflow`
   * decides. Call it while the app is loaded.
   */
  limited<Trigger, Result>(
    limit: CallLimits,
    ...call: LimitedCall<Trigger, Result>
  ): WrappedHandler<Trigger, Result>;
  /**
   * For storage queues whose message was denied a token: puts `message` back into the queue of this invocation, to be seen
   * again after `inMs` and up to half of it more. The handler then returns normally, and the message has not used up a
   * try. A crash in between delivers it twice.
   */
  defer(message: unknown, context: InvocationContext, inMs: number): Promise<void>;
  /**
   * Works in this process until `signal` is aborted, as `taskgate work` does: for a container or a server that stays. Running
   * handlers then may finish within `graceMs`; the rest is given back. Waits for a database that is away. Throws SettingsError,
   * SchemaError, and InvalidArgumentError for a definition that the app doesn't have. `end` is to be called afterwards.
   */
  work(options: WorkOptions): Promise<void>;
  /** Ends the app in this process: waits for invocations, gives back held tokens and tasks, closes connections; 3.6 s at most. */
  end(): Promise<void>;
}

const storage = "AzureWebJobsStorage";

/**
 * Puts an app's tasks and events behind the functions that Azure calls. Nothing is registered, opened or read of the
 * database here; the names of queues and the sweep's schedule come from the settings. Throws SettingsError where one of these
 * isn't valid. Throws InvalidArgumentError that names an unknown part, a value of the wrong form, or a bad name of the app.
 */
export function taskgate(parts: AppParts): Gate {
  requireOwnFiles();
  checkParts(parts);
  const process = new AppProcess(parts);
  const settings = loadTriggerSettings();
  const pageRoutes = createDashboardRoutes(process, settings.signIn);
  /** Functions that serve files alone. */
  const untraced = new Set<string>();
  const gate: Gate = {
    run: {
      queueName: settings.hintQueue,
      connection: storage,
      handler: (message, context) => run(process, message, context),
    },
    ingest: {
      queueName: settings.ingestQueue,
      connection: storage,
      handler: (message) => ingest(process, message),
    },
    sweep: { schedule: settings.sweepSchedule, handler: () => sweep(process) },
    api: (functionApp, options = {}) => {
      checkNames("api", options, ["prefix"]);
      checkApp(functionApp, "http");
      const routes = createApiRoutes(async () => (await process.runtime()).admin, {
        ...settings,
        ending: process.invocations.ending,
      });
      for (const given of [...routes, ...pageRoutes]) {
        const { name, route } = placeRoute(given, options);
        if ("isStatic" in given && given.isStatic) untraced.add(name);
        functionApp.http(name, {
          methods: [...given.methods],
          route,
          authLevel: given.authLevel,
          handler: (request, context) =>
            process.invocations.counted(() => given.handler(request, context)),
        });
      }
    },
    hooks: (functionApp) => {
      checkApp(functionApp, "hook");
      const load = async () => (await process.services()).telemetry;
      functionApp.hook.preInvocation(createTraceHook(load, untraced));
      functionApp.hook.appTerminate(() => process.end());
      leaveCtrlCToHost();
    },
    register: (functionApp, options = {}) => {
      checkNames("register", options, ["names", "api"]);
      process.limitedTasks.checkNames();
      const { names = {}, api = {} } = options;
      checkNames("names", names, ["run", "sweep", "ingest"]);
      checkApp(functionApp, "storageQueue");
      functionApp.storageQueue(names.run ?? "run", gate.run);
      functionApp.timer(names.sweep ?? "sweep", gate.sweep);
      functionApp.storageQueue(names.ingest ?? "ingest", gate.ingest);
      if (api !== false) gate.api(functionApp, api);
      gate.hooks(functionApp);
    },
    ...createEnqueueCalls(process),
    use: (body) => process.tracked(({ client }) => body(client)),
    withTokens: (limit, ...call) => withTokens(process, limit, call),
    limited: (limit, ...call) => limited(process, limit, call),
    defer: (...call) => process.invocations.counted(() => defer(...call)),
    work: (options) => workResident(process, options),
    end: () => process.end(),
  };
  noteGate(gate, () => [...parts.tasks, ...process.limitedTasks.read()]);
  return gate;
}

/** Throws InvalidArgumentError unless it is `app` of @azure/functions, or has that part of it. */
function checkApp(given: unknown, part: keyof FunctionApp): void {
  if (!hasMember(given, part)) throw wrongValue("app", "`app` of @azure/functions", given);
}

function checkParts(parts: AppParts): void {
  checkNames("taskgate", parts, ["app", "tasks", "events", "results", "openTelemetry"]);
  const { app, tasks, events, results, openTelemetry } = parts;
  if (app !== undefined) checkKey("app", app);
  checkTasks(tasks);
  createRegistry(tasks);
  if (events !== undefined) checkRoutes(events);
  if (results !== undefined) checkFunction("results", results);
  if (openTelemetry !== undefined) checkOpenTelemetry(openTelemetry);
}

function checkRoutes(events: readonly EventRoute[]): void {
  checkList("events", events, "routes");
  for (const [index, route] of events.entries()) {
    const parts = hasMember(route, "matches") ? [route.matches, route.toTasks] : [undefined];
    if (parts.every((part) => typeof part === "function")) continue;
    throw wrongValue(
      `events[${String(index)}]`,
      "a route, { matches, toTasks }, both functions",
      route,
    );
  }
}
