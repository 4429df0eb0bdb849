import type { CallLimits } from "../worker/run/call-limits";
import * as tokens from "../worker/run/with-tokens";
import type { TokenContext, WithTokensAnswer, WithTokensOptions } from "../worker/run/with-tokens";
import type { AppProcess } from "./runtime";

/** Code that runs on tokens. */
export type TokenBody<Result> = (context: TokenContext) => Promise<Result>;

/** What follows the limit: the body, or options and the body. */
export type TokenCall<Result> = [TokenBody<Result>] | [WithTokensOptions, TokenBody<Result>];

/** Runs a body on tokens of a limit, or of several; `Gate.withTokens` says the rest. */
export function withTokens<Result>(
  app: AppProcess,
  limit: CallLimits,
  call: TokenCall<Result>,
): Promise<WithTokensAnswer<Result>> {
  const [options, body] = call.length === 1 ? [{}, call[0]] : call;
  return app.tracked((runtime) => tokens.withTokens(runtime.tokens, { ...options, limit }, body));
}
