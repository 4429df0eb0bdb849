/**
 * The local Functions host: loads the unmodified compiled functions through `package.json` main, as
 * the Node worker on Azure does, and runs their timer, queue and HTTP triggers.
 *
 * What it does not have: blob leases (several hosts run the same timer several times), scaling,
 * retry policies, and triggers other than these three, whose functions are skipped with a warning.
 */
import { messageOf } from "../../core/foreign-value";
import { resolve } from "node:path";
import type { AppSettings } from "./app-settings";
import { CoreRegistry, installCoreApi, type HostLog, type RegisteredFunction } from "./core-api";
import { loadApp } from "./load-app";
import { LoadFailure } from "./load-failure";
import { readHostSettings, type HostSettings } from "./host-json";
import { HttpListener } from "./http-listener";
import { createInvoker, triggerOf, type InvocationInput, type Invoker } from "./invoke";
import type { Listener } from "./listener";
import { QueueListener } from "./queue-listener";
import { createQueueOutput, queueOf } from "./queue-output";
import { TimerListener } from "./timer-listener";
import { within } from "../../platform/real-clock";

/** What a host needs. */
export interface FunctionsHostOptions {
  /** The folder with host.json and package.json. */
  readonly appRoot: string;
  /** TCP port on 127.0.0.1; 0: a free one. */
  readonly port: number;
  /** App settings; written into process.env before the app loads, as on Azure. */
  readonly env: AppSettings;
  /** Receives every line of the host and of the functions. */
  readonly log: HostLog;
  /** If set, functions that are not anonymous want this key. Default: no keys, like `func`. */
  readonly functionKey?: string;
  /** False: timers do not run here; for a second host beside one that runs them. Default true. */
  readonly runsTimers?: boolean;
  /** A timer's run has ended; nobody else gets its error. Undefined: it went well. */
  readonly onTimerEnd?: (name: string, error: unknown) => void;
  /** Times of the platform; shortened in tests. */
  readonly limits?: Partial<HostLimits>;
}

/** Times that Azure fixes, ms. */
export interface HostLimits {
  /** How long `stop()` waits for running invocations. Default 10,000. */
  readonly drainMs: number;
  /** How long the appTerminate hooks may take together. Default 5,000. */
  readonly terminateMs: number;
  /** How long a fetched message is out of others' sight; renewed at half. Default 600,000. */
  readonly leaseMs: number;
}

const LIMITS: HostLimits = { drainMs: 10_000, terminateMs: 5_000, leaseMs: 600_000 };
/** After the hooks: for the answers of invocations that ended because of a hook. */
const SETTLE_MS = 250;

/**
 * Loads an app and starts its triggers. One host per process: the app's registrations cannot be
 * undone.
 *
 * Errors: an Error that names the file, function or setting at fault.
 */
export async function startFunctionsHost(options: FunctionsHostOptions): Promise<FunctionsHost> {
  const appRoot = resolve(options.appRoot);
  Object.assign(process.env, withoutUndefined(options.env));
  const settings = await readHostSettings(appRoot, process.env);
  const registry = new CoreRegistry(options.log);
  installCoreApi(registry);
  await load(appRoot, registry, options.log);
  const host = new FunctionsHost(options, settings, registry);
  await host.start(appRoot);
  return host;
}

/** A file that can't be loaded is named; its stack goes into the log. */
async function load(appRoot: string, registry: CoreRegistry, log: HostLog): Promise<void> {
  try {
    await loadApp(appRoot, registry);
  } catch (error) {
    if (error instanceof LoadFailure) log("error", error.trace);
    throw error;
  }
}

function withoutUndefined(env: AppSettings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** A running host. */
export class FunctionsHost {
  /** `http://127.0.0.1:<port>` */
  url = "";
  /** Names of the functions that run here, in the order of registration. */
  readonly functions: string[] = [];
  /** Names of the functions whose triggers or bindings this host does not have. */
  readonly skipped: string[] = [];
  /** Paths of the HTTP functions, with the prefix and without a leading slash: `api/items/{id}`. */
  readonly routes: readonly string[];
  readonly #options: FunctionsHostOptions;
  readonly #settings: HostSettings;
  readonly #registry: CoreRegistry;
  readonly #limits: HostLimits;
  readonly #invoker: Invoker;
  readonly #http: HttpListener;
  readonly #queues: QueueListener[] = [];
  readonly #timers: Listener[] = [];
  #stopped: Promise<void> | undefined;

  constructor(options: FunctionsHostOptions, settings: HostSettings, registry: CoreRegistry) {
    this.#options = options;
    this.#settings = settings;
    this.#registry = registry;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#invoker = createInvoker({
      registry,
      functionTimeoutMs: settings.functionTimeoutMs,
      writeOutput: createQueueOutput({
        settings: process.env,
        encoding: settings.queues.messageEncoding,
        onWritten: (queueName) => {
          for (const queue of this.#queues) if (queue.queueName === queueName) queue.notify();
        },
      }),
    });
    const web: RegisteredFunction[] = [];
    for (const target of registry.functions.values()) this.#prepare(target, web);
    this.routes = web.map((target) => pathOf(target, settings.routePrefix));
    this.#http = new HttpListener({
      targets: web,
      port: options.port,
      routePrefix: settings.routePrefix,
      functionKey: options.functionKey,
      invoker: this.#invoker,
      registry,
    });
  }

  /** `startFunctionsHost` calls it. */
  async start(appRoot: string): Promise<void> {
    this.url = await this.#http.listen();
    try {
      await this.#registry.runHooks("appStart", {
        hookData: this.#registry.appLevelHookData,
        appHookData: this.#registry.appHookData,
        functionAppDirectory: appRoot,
      });
    } catch (error) {
      await this.#http.close();
      throw error;
    }
    for (const listener of this.#listeners()) listener.start();
  }

  /**
   * Runs a timer function now, or a queue function with a message (text, or a value that becomes
   * JSON), output bindings included. Rejects with what the function threw.
   */
  async invoke(name: string, input?: unknown): Promise<void> {
    const target = this.#registry.functions.get(name);
    if (target === undefined || !this.functions.includes(name)) {
      throw new Error(`No function "${name}" runs here; there are: ${this.functions.join(", ")}.`);
    }
    await this.#invoker.invoke(target, manualInput(target, input));
  }

  /**
   * Takes no more work, waits up to 10 s for running invocations, runs the appTerminate hooks (up to 5 s),
   * answers those that ended meanwhile, and returns. An invocation that still runs then is lost, as on Azure, where the
   * process exits here: the caller should exit, too. A second call waits for the first.
   */
  async stop(): Promise<void> {
    this.#stopped ??= this.#shutDown();
    await this.#stopped;
  }

  #listeners(): Listener[] {
    return [this.#http, ...this.#queues, ...this.#timers];
  }

  #prepare(target: RegisteredFunction, web: RegisteredFunction[]): void {
    const { name } = target.metadata;
    const { binding } = triggerOf(target);
    const missing = unknownBinding(target);
    if (missing !== null) {
      this.skipped.push(name);
      this.#warn(`Function ${name} is skipped: the local host has no ${missing}.`);
      return;
    }
    if (target.metadata.retryOptions !== undefined) {
      this.#warn(`Function ${name}: the local host does not repeat by a retry policy.`);
    }
    try {
      this.#listen(target, binding.type.toLowerCase(), web);
    } catch (error) {
      const text = messageOf(error);
      throw new Error(`Function ${name} cannot start. ${text}`, { cause: error });
    }
    this.functions.push(name);
  }

  #listen(target: RegisteredFunction, type: string, web: RegisteredFunction[]): void {
    const shared = { target, invoker: this.#invoker, registry: this.#registry };
    if (type === "httptrigger") {
      web.push(target);
    } else if (type === "timertrigger") {
      const { name } = target.metadata;
      const onEnd = (error: unknown): void => this.#options.onTimerEnd?.(name, error);
      const timer = new TimerListener({ ...shared, settings: process.env, onEnd });
      if (this.#options.runsTimers !== false) this.#timers.push(timer);
    } else {
      const queue = queueOf(triggerOf(target).binding, process.env);
      const { leaseMs } = this.#limits;
      const settings = this.#settings.queues;
      this.#queues.push(new QueueListener({ ...shared, ...queue, settings, leaseMs }));
    }
  }

  async #shutDown(): Promise<void> {
    const listeners = this.#listeners();
    for (const listener of listeners) listener.stop();
    const idle = Promise.all(listeners.map((listener) => listener.idle()));
    await within(this.#limits.drainMs, idle);
    const hooks = this.#registry.runHooks("appTerminate", {
      hookData: this.#registry.appLevelHookData,
      appHookData: this.#registry.appHookData,
    });
    const reported = hooks.catch((error: unknown) => {
      this.#warn(`An appTerminate hook failed: ${messageOf(error)}`);
    });
    if (!(await within(this.#limits.terminateMs, reported))) {
      this.#warn(`The appTerminate hooks took longer than ${String(this.#limits.terminateMs)} ms.`);
    }
    if (!(await within(SETTLE_MS, idle))) {
      const count = String(this.#invoker.running);
      this.#warn(`Stopped with ${count} invocations running; what is not finished is lost.`);
    }
    await this.#http.close();
  }

  #warn(message: string): void {
    this.#registry.write({ level: "warning", category: "system", message });
  }
}

const TRIGGERS = new Set(["httptrigger", "timertrigger", "queuetrigger"]);
const OUTPUTS = new Set(["http", "queue"]);

/** The first binding that this host does not have, or null. */
function unknownBinding(target: RegisteredFunction): string | null {
  for (const { type, direction } of Object.values(target.metadata.bindings)) {
    const known = direction === "in" ? TRIGGERS : OUTPUTS;
    if (!known.has(type.toLowerCase())) return `${type} (${direction})`;
  }
  return null;
}

function pathOf(target: RegisteredFunction, prefix: string): string {
  const { route } = triggerOf(target).binding;
  const path = typeof route === "string" && route !== "" ? route : target.metadata.name;
  return [prefix, path].filter((part) => part !== "").join("/");
}

function manualInput(target: RegisteredFunction, input: unknown): InvocationInput {
  const type = triggerOf(target).binding.type.toLowerCase();
  if (type === "timertrigger") {
    const info = { Schedule: { AdjustForDST: true }, ScheduleStatus: null, IsPastDue: false };
    return { data: { json: JSON.stringify(info) } };
  }
  if (type === "httptrigger") {
    throw new Error(`Function "${target.metadata.name}" is called over HTTP, not by hand.`);
  }
  return { data: { string: typeof input === "string" ? input : JSON.stringify(input ?? null) } };
}
