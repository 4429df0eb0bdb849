import { createRequire } from "node:module";
import { collectTests, installGlobals } from "../tsql/mutation/mini-runner";
import type { CollectedTest } from "../tsql/mutation/mini-runner";
import { mssqlSetup } from "../support/mssql-setup";
import type { StoreSetup } from "../support/store-setup";
import type * as ContractFile from "../contract/store.contract";
import { describeError, isOver, noLogins, rowOf } from "./step";
import type { VerifyStep } from "./step";

/** No test of the suite comes near. */
const testTimeoutMs = 120_000;

const what = "the contract suite";

/** The suite that defines what a store is, the same that every adapter passes, on the server. */
export const contractStep: VerifyStep = {
  name: "contract",
  share: 0.4,
  meansNothingSimulated: false,
  run: async (context) => {
    if (!context.place.mayMakeLogins)
      return [{ what, status: "skipped", summary: noLogins, details: [] }];
    const setup = mssqlSetup(context.place.url);
    const tests = loadSuite(setup);
    const runnable = tests.filter(({ run }) => run !== undefined);
    const failures: string[] = [];
    let passed = 0;
    try {
      for (const { title, run } of runnable) {
        if (isOver(context) || run === undefined) break;
        context.say(
          `${String(passed + failures.length + 1)} of ${String(runnable.length)}: ${title}`,
        );
        try {
          await within(testTimeoutMs, run());
          passed += 1;
        } catch (error) {
          failures.push(`${title}\n${describeError(error)}`);
        }
      }
    } finally {
      await setup.close();
    }
    const skipped = tests.length - runnable.length;
    const remark = skipped === 0 ? "" : `; ${String(skipped)} skipped, their titles say why`;
    return [rowOf(what, { all: runnable.length, passed, failures }, remark)];
  },
};

/** The suites take `test` and `expect` from "@jest/globals", which isn't jest's here. */
function loadSuite(setup: StoreSetup): CollectedTest[] {
  installGlobals();
  const load = createRequire(__filename);
  const { describeStore } = load("../contract/store.contract") as typeof ContractFile;
  return collectTests(() => {
    describeStore(setup);
  });
}

async function within(ms: number, body: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`It didn't end within ${String(ms / 1_000)} s`));
    }, ms);
  });
  try {
    await Promise.race([body, late]);
  } finally {
    clearTimeout(timer);
  }
}
