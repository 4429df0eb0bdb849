import { hasMember } from "../core/foreign-value";
import { checkNames } from "../core/known-names";
import { checkFunction, wrongValue } from "../core/wrong-value";
import { listLimits } from "../worker/run/call-limits";
import type { CallLimits } from "../worker/run/call-limits";
import * as tokens from "../worker/run/with-tokens";
import type { TokenContext, WithTokensAnswer, WithTokensOptions } from "../worker/run/with-tokens";
import type { AppProcess } from "./runtime";

/** Code that runs on tokens. */
export type TokenBody<Result> = (context: TokenContext) => Promise<Result>;

/** What follows the limit: the body, or options and the body. */
export type TokenCall<Result> = [TokenBody<Result>] | [WithTokensOptions, TokenBody<Result>];

/** Runs a body on tokens of a limit, or of several; `Gate.withTokens` says the rest. */
export async function withTokens<Result>(
  app: AppProcess,
  limit: CallLimits,
  call: TokenCall<Result>,
): Promise<WithTokensAnswer<Result>> {
  const [options, body] = call.length === 2 ? call : [{}, call[0]];
  listLimits(limit);
  checkNames("withTokens", options, ["want", "waitMs", "signal"]);
  tokens.checkCallOptions(options);
  if (options.signal !== undefined && !hasMember(options.signal, "aborted"))
    throw wrongValue("signal", "an AbortSignal", options.signal);
  checkFunction("body", body);
  return app.tracked((runtime) => tokens.withTokens(runtime.tokens, { ...options, limit }, body));
}
