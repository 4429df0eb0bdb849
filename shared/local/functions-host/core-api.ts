/**
 * The module `@azure/functions-core`, which no npm package contains: on Azure the Node worker
 * supplies it to `@azure/functions` at run time. This file supplies the same module the same way,
 * so that the library and the app on top of it run unmodified.
 *
 * Process-wide by nature: the library asks for the module once and keeps it.
 */
import Module from "node:module";

/** Levels of the Functions runtime, least to most important. */
export type LogLevel =
  | "trace"
  | "debug"
  | "information"
  | "warning"
  | "error"
  | "critical"
  | "none";

/** Who wrote a line: the app (`user`) or the library and the host (`system`). */
export type LogCategory = "user" | "system" | "customMetric";

/** Which invocation a line belongs to. */
export interface LogSource {
  readonly functionName: string;
  readonly invocationId: string;
}

/** Receives every line of the host and of the functions. */
export type HostLog = (level: LogLevel, text: string, source?: LogSource) => void;

/** A value between host and library; one of the members is set. */
export interface RpcTypedData {
  readonly string?: string | null;
  readonly json?: string | null;
  readonly bytes?: Uint8Array | null;
  readonly int?: number | null;
  readonly double?: number | null;
  readonly http?: RpcHttpData | null;
}

/** A string that may be absent, as the library expects it. */
export interface RpcNullable<T> {
  readonly value?: T | null;
}

/** A cookie of a response. */
export interface RpcHttpCookie {
  readonly name?: string | null;
  readonly value?: string | null;
  readonly domain?: RpcNullable<string> | null;
  readonly path?: RpcNullable<string> | null;
  readonly expires?: RpcNullable<{ readonly seconds?: number | null }> | null;
  readonly secure?: RpcNullable<boolean> | null;
  readonly httpOnly?: RpcNullable<boolean> | null;
  readonly sameSite?: "none" | "lax" | "strict" | "explicitNone" | null;
  readonly maxAge?: RpcNullable<number> | null;
}

/** A request (to the library) or a response (from it). */
export interface RpcHttpData {
  readonly method?: string;
  readonly url?: string;
  readonly body?: RpcTypedData | null;
  readonly statusCode?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly RpcHttpCookie[];
  readonly nullableHeaders?: Readonly<Record<string, RpcNullable<string>>>;
  readonly nullableParams?: Readonly<Record<string, RpcNullable<string>>>;
  readonly nullableQuery?: Readonly<Record<string, RpcNullable<string>>>;
}

/** What a function is bound to; further members depend on the type. */
export interface BindingInfo {
  readonly type: string;
  readonly direction: "in" | "out" | "inout";
  readonly [member: string]: unknown;
}

/** A function as the library registers it. */
export interface FunctionMetadata {
  readonly name: string;
  readonly bindings: Readonly<Record<string, BindingInfo>>;
  readonly retryOptions?: unknown;
}

/** A function's or a hook's code. */
export type Callback = (...values: unknown[]) => unknown;

/** What the library needs to know about one invocation. */
export interface CoreInvocationContext {
  readonly invocationId: string;
  readonly metadata: FunctionMetadata;
  readonly request: {
    readonly invocationId: string;
    readonly inputData: readonly { readonly name: string; readonly data: RpcTypedData }[];
    readonly triggerMetadata: Readonly<Record<string, RpcTypedData>>;
    readonly traceContext: { readonly traceParent: string; readonly traceState?: string };
    readonly retryContext?: undefined;
  };
  state: "preInvocationHooks" | "invocation" | "postInvocationHooks" | undefined;
  log(level: LogLevel, category: LogCategory, message: string): void;
}

/** The library's answer to one invocation. */
export interface InvocationResponse {
  readonly outputData?: readonly { readonly name: string; readonly data: RpcTypedData }[] | null;
  readonly returnValue?: RpcTypedData | null;
}

/** One invocation in the library's hands; the steps are called in this order. */
export interface InvocationModel {
  getArguments(): Promise<{ context: unknown; inputs: unknown[] }>;
  invokeFunction(context: unknown, inputs: unknown[], callback: Callback): Promise<unknown>;
  getResponse(context: unknown, result: unknown): Promise<InvocationResponse>;
}

/** The library as the host sees it. */
export interface ProgrammingModel {
  readonly name: string;
  readonly version: string;
  getInvocationModel(context: CoreInvocationContext): InvocationModel;
  getCapabilities?(capabilities: Record<string, string>): Promise<Record<string, string>>;
}

/** A function that the app registered. */
export interface RegisteredFunction {
  readonly metadata: FunctionMetadata;
  readonly callback: Callback;
}

const HOOK_NAMES = ["preInvocation", "postInvocation", "appStart", "appTerminate", "log"] as const;
/** The hooks that an app can register. */
export type HookName = (typeof HOOK_NAMES)[number];

/** Any number at or above 4.34 tells the library that HTTP streams and log hooks are known. */
const HOST_VERSION = "4.1042.0";
const WORKER_VERSION = "3.12.0";
const FUNCTION_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;

/** What the worker throws for a broken contract; the library looks for the extra member. */
class SystemRangeError extends RangeError {
  readonly isAzureFunctionsSystemError = true;
}

/** Undoes a registration; the library hands it to the code that registered a hook. */
class Disposable {
  static from(...others: { dispose: () => unknown }[]): Disposable {
    return new Disposable(() => {
      for (const other of others) other.dispose();
    });
  }

  #onDispose: (() => unknown) | undefined;

  constructor(onDispose: () => unknown) {
    this.#onDispose = onDispose;
  }

  dispose(): void {
    const onDispose = this.#onDispose;
    this.#onDispose = undefined;
    onDispose?.();
  }
}

/** What an app has registered, and the hooks' shared data. */
export class CoreRegistry {
  readonly functions = new Map<string, RegisteredFunction>();
  /** Shared by the appStart and appTerminate hooks. */
  readonly appLevelHookData: Record<string, unknown> = {};
  /** Shared by all hooks. */
  readonly appHookData: Record<string, unknown> = {};
  /** Where the app takes HTTP requests as streams; null: it takes them whole. Known once it is loaded. */
  streamPort: number | null = null;
  /** Of the library, once an app has loaded it. */
  model: ProgrammingModel | undefined;
  readonly #hooks = new Map<HookName, Callback[]>();
  readonly #log: HostLog;
  #isSealed = false;
  #isInLogHook = false;

  constructor(log: HostLog) {
    this.#log = log;
  }

  /** From here on nothing can be registered, as on Azure once the app has started. */
  seal(): void {
    this.#isSealed = true;
  }

  registerFunction(metadata: FunctionMetadata, callback: Callback): Disposable {
    const { name } = metadata;
    if (this.#isSealed) {
      throw new Error(`Function "${name}" is registered after the start of the app; too late.`);
    }
    if (!FUNCTION_NAME.test(name)) {
      throw new Error(
        `Function name "${name}" is not allowed: a letter, then letters, digits, _ or -, 128 at most.`,
      );
    }
    if (this.functions.has(name)) throw new Error(`Function "${name}" is registered twice.`);
    this.functions.set(name, { metadata, callback });
    return new Disposable(() => this.functions.delete(name));
  }

  registerHook(name: string, callback: Callback): Disposable {
    const known = HOOK_NAMES.find((hook) => hook === name);
    if (known === undefined) throw new SystemRangeError(`Unrecognized hook "${name}"`);
    this.#hooks.set(known, [...this.hooks(known), callback]);
    return new Disposable(() => {
      this.#hooks.set(
        known,
        this.hooks(known).filter((hook) => hook !== callback),
      );
    });
  }

  /** The registered hooks of a name, in the order of registration. */
  hooks(name: HookName): readonly Callback[] {
    return this.#hooks.get(name) ?? [];
  }

  /** Runs all hooks of a name one after the other; the first error ends the row. */
  async runHooks(name: HookName, context: object): Promise<void> {
    for (const hook of this.hooks(name)) await hook(context);
  }

  /** Passes a line on, after the app's log hooks have had a chance to change it. */
  write({ source, ...line }: LogLine): void {
    const context = {
      invocationContext: undefined,
      ...line,
      hookData: {},
      appHookData: this.appHookData,
    };
    // A log hook that logs would call itself.
    if (!this.#isInLogHook) {
      this.#isInLogHook = true;
      try {
        for (const hook of this.hooks("log")) hook(context);
      } finally {
        this.#isInLogHook = false;
      }
    }
    this.#log(context.level, context.message, source);
  }
}

/** One line on its way to the log. */
export interface LogLine {
  readonly level: LogLevel;
  readonly category: LogCategory;
  readonly message: string;
  readonly source?: LogSource;
  readonly invocationContext?: unknown;
}

const CORE_MODULE = "@azure/functions-core";
let isInstalled = false;

/**
 * Makes `require("@azure/functions-core")` answer with a module that writes into `registry`, for
 * CommonJS and for ES modules that import the library. Once per process; throws the second time.
 */
export function installCoreApi(registry: CoreRegistry): void {
  if (isInstalled) {
    throw new Error(
      "This process has a Functions host already. Start another process for another.",
    );
  }
  isInstalled = true;
  const coreApi = {
    version: WORKER_VERSION,
    hostVersion: HOST_VERSION,
    registerFunction: registry.registerFunction.bind(registry),
    registerHook: registry.registerHook.bind(registry),
    setProgrammingModel: (model: ProgrammingModel) => {
      registry.model = model;
    },
    getProgrammingModel: () => registry.model,
    log: (level: LogLevel, category: LogCategory, message: string) => {
      registry.write({ level, category, message });
    },
    Disposable,
  };
  // The worker's own way; the alternative, module hooks, is not in Node 20.
  const prototype: { require: (this: unknown, id: string) => unknown } = Module.prototype;
  const original = prototype.require;
  prototype.require = function require(id) {
    return id === CORE_MODULE ? coreApi : original.call(this, id);
  };
}
