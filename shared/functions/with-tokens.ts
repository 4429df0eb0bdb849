import { hasMember } from "../core/foreign-value";
import { joinSignals } from "../core/join-signals";
import type { JoinedSignal } from "../core/join-signals";
import { checkNames } from "../core/known-names";
import { checkFunction, wrongValue } from "../core/wrong-value";
import { listLimits } from "../worker/run/call-limits";
import type { CallLimits } from "../worker/run/call-limits";
import * as tokens from "../worker/run/with-tokens";
import type { TokenContext, WithTokensAnswer, WithTokensOptions } from "../worker/run/with-tokens";
import { BodyBegin } from "./body-begin";
import type { AppProcess } from "./runtime";

/** Code that runs on tokens. */
export type TokenBody<Result> = (context: TokenContext) => Promise<Result>;

/** What follows the limit: the body, or options and the body. */
export type TokenCall<Result> = [TokenBody<Result>] | [WithTokensOptions, TokenBody<Result>];

/**
 * Runs a body on tokens of a limit, or of several; `Gate.withTokens` says the rest. A silent database holds the caller up for 4 s
 * behind `waitMs`; the body begins no more then.
 */
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
  const begin = new BodyBegin();
  const { signal, leave } = endOfWait(begin, options.signal);
  const asked = app.tracked((runtime) =>
    tokens.withTokens(runtime.tokens, { ...options, limit, signal }, async (held) => {
      begin.note();
      return body(held);
    }),
  );
  try {
    return await begin.inTime(asked, options.waitMs ?? 0);
  } finally {
    leave();
  }
}

/** Ends the wait: that of the caller, and that of a database which says nothing. */
function endOfWait(begin: BodyBegin, own: AbortSignal | undefined): JoinedSignal {
  if (own === undefined) return { signal: begin.late, leave: () => undefined };
  return joinSignals(own, begin.late);
}
