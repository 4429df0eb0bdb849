/**
 * Taskgate in an Azure Functions app: the package's door `taskgate/functions`. `taskgate({ tasks, events })` makes the
 * functions to register with `app`, and what the app's own functions use.
 */
export type { WorkOptions } from "./resident";
export { taskgate } from "./taskgate";
export type { FunctionApp, Gate, QueueFunction, RegisterOptions, TimerFunction } from "./taskgate";
export type { ApiPlace } from "./api/prefix";
export type { AppParts } from "./app-parts";
export type { AppEnqueueCalls } from "./enqueue-calls";
export type { LimitedHandler, LimitedOptions, Overflow, WrappedHandler } from "./limited";
export type { CallLimit, CallLimits } from "../worker/run/call-limits";
export type { TokenContext, WithTokensAnswer, WithTokensOptions } from "../worker/run/with-tokens";
