import type { LitmusCase } from "../litmus-case";
import { appLockCases } from "./app-locks";
import { creationCases } from "./creation";
import { errorCases } from "./errors";
import { hintCases } from "./hints";
import { numberCases } from "./numbers";
import { queueCases } from "./queues";
import { rangeCases } from "./ranges";
import { readCases } from "./reads";
import { rightCases } from "./rights";
import { writeCases } from "./writes";

/** Every litmus test whose steps come one after the other, by subject. */
export const litmusCases: Readonly<Record<string, readonly LitmusCase[]>> = {
  reads: readCases,
  hints: hintCases,
  ranges: rangeCases,
  writes: writeCases,
  "order of arrival and queues": queueCases,
  "errors and transactions": errorCases,
  "application locks": appLockCases,
  "numbers that begin anew": numberCases,
  "names at CREATE": creationCases,
  "rights and owners": rightCases,
};
