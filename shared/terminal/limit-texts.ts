import { isCallsDefinition } from "../core/calls-definition";
import { limitInForce } from "../core/limit-in-force";
import { tokenBar } from "./bars";
import { showLimit } from "./output";
import { cutToWidth, printable } from "./text-width";

/** What a definition is shown by. */
type Shown = Parameters<typeof limitInForce>[0] & { readonly name: string };

/** Longer names of shared limits are cut: they stand beside numbers. */
const nameMax = 24;

/** `4`, `4 of partner-api` or `none`. */
export function showLimitInForce(definition: Shown): string {
  const { limit } = limitInForce(definition);
  return `${showLimit(limit)}${ofShared(definition)}`;
}

/** `2`, or `2 (4 by all)` where others hold tokens of the same shared limit. */
export function showHeld(definition: Shown): string {
  return `${String(definition.held)}${byAll(definition)}`;
}

/** `2/4`, `2/4 of partner-api (4 by all)`, or `2/-` without a limit. The name of functions under a limit tells which one it is. */
export function showTokens(definition: Shown): string {
  const { limit } = limitInForce(definition);
  const held = `${String(definition.held)}/${limit === null ? "-" : String(limit)}`;
  const name = isCallsDefinition(definition.name) ? "" : ofShared(definition);
  return `${held}${name}${byAll(definition)}`;
}

/** The same behind a bar: `##++  2/4 of partner-api`. The cells `+` are tokens that others hold. */
export function drawTokens(definition: Shown): string {
  const { limit, held } = limitInForce(definition);
  const others = Math.max(0, held - definition.held);
  const name = isCallsDefinition(definition.name) ? "" : ofShared(definition);
  return `${tokenBar(definition.held, limit, others)}${name}`;
}

function ofShared(definition: Shown): string {
  const { shared } = limitInForce(definition);
  return shared === null ? "" : ` of ${cutToWidth(printable(shared), nameMax)}`;
}

function byAll(definition: Shown): string {
  const { held } = limitInForce(definition);
  return held > definition.held ? ` (${String(held)} by all)` : "";
}
