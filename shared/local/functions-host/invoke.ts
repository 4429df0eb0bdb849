/**
 * One invocation of a function, step by step as the Node worker does it. All conversion between
 * plain data and what the function sees (InvocationContext, HttpRequest, Timer) is the library's.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type {
  BindingInfo,
  CoreInvocationContext,
  CoreRegistry,
  LogLevel,
  LogSource,
  RegisteredFunction,
  RpcTypedData,
} from "./core-api";

/** What starts an invocation. */
export interface InvocationInput {
  readonly data: RpcTypedData;
  readonly triggerMetadata?: Readonly<Record<string, RpcTypedData>>;
  /** W3C trace context that this invocation continues; absent or malformed: a new trace. */
  readonly traceParent?: string | undefined;
  readonly traceState?: string | undefined;
  /** Default: a new one. */
  readonly invocationId?: string;
}

/** What a function answered; it threw nothing. */
export interface InvocationResult {
  readonly returnValue: RpcTypedData | undefined;
  /** Values of the other output bindings, by binding name. */
  readonly outputs: ReadonlyMap<string, RpcTypedData>;
  /** Did the function return a value, also one that the library has sent already? */
  readonly hasReturned: boolean;
}

/** Writes the values of output bindings to where they belong. */
export type OutputWriter = (binding: BindingInfo, data: RpcTypedData) => Promise<void>;

/** Runs functions; each failure is logged here once and thrown to the listener. */
export interface Invoker {
  /** The number of invocations under way. */
  readonly running: number;
  invoke(target: RegisteredFunction, input: InvocationInput): Promise<InvocationResult>;
}

/** What an invoker needs. */
export interface InvokerOptions {
  readonly registry: CoreRegistry;
  readonly writeOutput: OutputWriter;
  /** host.json's functionTimeout; Azure restarts the process then, here it is only said. */
  readonly functionTimeoutMs: number | null;
}

/** The binding name under which a function's return value is bound. */
export const RETURN_BINDING = "$return";

/** Finds the binding that starts a function. */
export function triggerOf(target: RegisteredFunction): { name: string; binding: BindingInfo } {
  for (const [name, binding] of Object.entries(target.metadata.bindings)) {
    if (/trigger$/i.test(binding.type)) return { name, binding };
  }
  throw new Error(`Function "${target.metadata.name}" has no trigger.`);
}

/** Creates the process's one invoker. */
export function createInvoker(options: InvokerOptions): Invoker {
  let running = 0;
  return {
    get running() {
      return running;
    },
    async invoke(target, input) {
      running += 1;
      try {
        return await runInvocation(options, target, input);
      } finally {
        running -= 1;
      }
    },
  };
}

async function runInvocation(
  options: InvokerOptions,
  target: RegisteredFunction,
  input: InvocationInput,
): Promise<InvocationResult> {
  const { name } = target.metadata;
  const source: LogSource = {
    functionName: name,
    invocationId: input.invocationId ?? randomUUID(),
  };
  const write = (level: LogLevel, message: string): void => {
    options.registry.write({ level, category: "system", message, source });
  };
  const startedMs = performance.now();
  write("information", `Executing '${name}'`);
  const timer = watchTimeout(options, write);
  try {
    const result = await runSteps(options.registry, target, { input, source });
    await writeOutputs(options, target, result);
    write("information", `Executed '${name}' (Succeeded, ${elapsed(startedMs)})`);
    return result;
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    write("error", `Executed '${name}' (Failed, ${elapsed(startedMs)})\n${text}`);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function elapsed(startedMs: number): string {
  return `${String(Math.round(performance.now() - startedMs))} ms`;
}

function watchTimeout(
  options: InvokerOptions,
  write: (level: LogLevel, message: string) => void,
): NodeJS.Timeout | undefined {
  const { functionTimeoutMs } = options;
  if (functionTimeoutMs === null) return undefined;
  const timer = setTimeout(() => {
    const text = `Still running after functionTimeout (${String(functionTimeoutMs)} ms).`;
    write("error", `${text} Azure restarts the whole process now; this host lets it go on.`);
  }, functionTimeoutMs);
  timer.unref();
  return timer;
}

async function runSteps(
  registry: CoreRegistry,
  target: RegisteredFunction,
  call: { readonly input: InvocationInput; readonly source: LogSource },
): Promise<InvocationResult> {
  if (registry.model === undefined) throw new Error("The app has not loaded @azure/functions.");
  const logged: { invocationContext?: unknown } = {};
  const core = coreContext(target, call.input, {
    invocationId: call.source.invocationId,
    log: (level, category, message) => {
      registry.write({ level, category, message, source: call.source, ...logged });
    },
  });
  const model = registry.model.getInvocationModel(core);
  const { context, inputs } = await model.getArguments();
  logged.invocationContext = context;
  const shared = { hookData: {}, appHookData: registry.appHookData, invocationContext: context };
  // Hooks may replace the inputs and the function itself, and afterwards the result or the error.
  const before = { ...shared, inputs, functionCallback: target.callback };
  core.state = "preInvocationHooks";
  await registry.runHooks("preInvocation", before);
  const outcome: { result: unknown; error: unknown } = { result: null, error: null };
  const after = { ...shared, inputs: before.inputs, ...outcome };
  core.state = "invocation";
  try {
    after.result = await model.invokeFunction(context, before.inputs, before.functionCallback);
  } catch (error) {
    after.error = error ?? new Error("The function threw nothing (null or undefined).");
  }
  core.state = "postInvocationHooks";
  await registry.runHooks("postInvocation", after);
  core.state = undefined;
  if (after.error !== null && after.error !== undefined) throw asError(after.error);
  const response = await model.getResponse(context, after.result);
  return {
    returnValue: response.returnValue ?? undefined,
    outputs: new Map((response.outputData ?? []).map(({ name, data }) => [name, data])),
    hasReturned: after.result !== null && after.result !== undefined,
  };
}

/** JavaScript lets a function throw anything. */
function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function coreContext(
  target: RegisteredFunction,
  input: InvocationInput,
  own: Pick<CoreInvocationContext, "invocationId" | "log">,
): CoreInvocationContext {
  return {
    ...own,
    metadata: target.metadata,
    request: {
      invocationId: own.invocationId,
      inputData: [{ name: triggerOf(target).name, data: input.data }],
      triggerMetadata: input.triggerMetadata ?? {},
      traceContext: {
        traceParent: childTraceParent(input.traceParent),
        ...(input.traceState === undefined ? {} : { traceState: input.traceState }),
      },
    },
    state: undefined,
  };
}

/** The host's own span: within the caller's trace if there is one, else in a new trace. */
function childTraceParent(parent: string | undefined): string {
  const caller = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/.exec(parent ?? "");
  const traceId = caller?.[1] ?? randomBytes(16).toString("hex");
  return `00-${traceId}-${randomBytes(8).toString("hex")}-${caller?.[2] ?? "01"}`;
}

async function writeOutputs(
  options: InvokerOptions,
  target: RegisteredFunction,
  result: InvocationResult,
): Promise<void> {
  for (const [name, binding] of Object.entries(target.metadata.bindings)) {
    // An HTTP response is the listener's to write.
    if (binding.direction !== "out" || binding.type.toLowerCase() === "http") continue;
    const data = name === RETURN_BINDING ? result.returnValue : result.outputs.get(name);
    if (data !== undefined) await options.writeOutput(binding, data);
  }
}
