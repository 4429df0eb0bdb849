import type { CheckFactory } from "../watch";
import { checkCost, checkDeadline } from "./cost";
import { checkHolder } from "./holder";
import { checkLimit } from "./limit";
import { checkNothingLost, checkStale } from "./nothing-lost";
import { checkOrder } from "./order";
import { checkFairness, checkWaiting } from "./waiting";

/** Every promise that can be seen from outside, each with its check. */
export const allChecks: readonly CheckFactory[] = [
  checkLimit,
  checkHolder,
  checkNothingLost,
  checkStale,
  checkOrder,
  checkWaiting,
  checkFairness,
  checkCost,
  checkDeadline,
];
