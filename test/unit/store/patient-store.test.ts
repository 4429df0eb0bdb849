import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { StoreUnavailableError, StoreUncertainError } from "../../../shared/core/errors";
import { operations } from "../../../shared/store/operations";
import { reading, toSnakeCase } from "../../../shared/store/operations/operation";
import { PatientCalls, patientStore } from "../../../shared/store/patient-store";
import { createRepeat } from "../../../shared/store/repeat";
import { VirtualTime } from "../../workers/virtual-time";

const functions = join(__dirname, "../../../shared/store/postgres/sql/functions");

/** A change whose attempts end as they are given, one after the other; `null`: without an answer. */
function openScene(ends: readonly (Error | null)[]) {
  const time = new VirtualTime();
  let tries = 0;
  const calls = new PatientCalls({
    ...{ timeoutMs: 5_000, sayAfterMs: 3_000, onSlow: () => undefined },
    timers: { after: (ms, callback) => time.after(ms, callback), soon: setImmediate },
  });
  const repeat = createRepeat({
    random: { uuid: () => "", fraction: () => 0.5 },
    sleep: (ms) => time.sleep(ms),
    onRepeat: (error) => {
      calls.noteTrouble(error);
    },
    onTry: () => {
      calls.noteTry();
    },
    goesOn: () => !calls.hasGivenUp,
  });
  const change = calls.run(
    () =>
      repeat(
        () => {
          const end = ends[Math.min(tries, ends.length - 1)] ?? null;
          tries += 1;
          return end === null ? new Promise(() => undefined) : Promise.reject(end);
        },
        () => true,
      ),
    { reads: false },
  );
  change.catch(() => undefined);
  return { time, change, tries: () => tries };
}

const readOnly = new StoreUnavailableError("The database can't be used now (25006)");
const lost = new StoreUncertainError("The connection was lost");

test("a read is known by the name of its operation, as its header says", () => {
  for (const [method, { name }] of Object.entries(operations)) {
    const header = readFileSync(join(functions, `${toSnakeCase(name)}.sql`), "utf8");
    expect([method, reading.test(method)]).toEqual([
      method,
      header.includes("-- Once:   a read\n"),
    ]);
  }
});

describe("a change that is given up", () => {
  test("changed nothing where each attempt was answered so, and isn't tried again", async () => {
    const { time, change, tries } = openScene([readOnly]);
    await time.run(5_000);
    await expect(change).rejects.toMatchObject({
      code: "TASKGATE_STORE_UNAVAILABLE",
      message: "The database can't be used now (25006): gave up after 5 s: nothing was changed",
    });
    const before = tries();
    expect(before).toBeGreaterThan(3);
    await time.run(60_000);
    expect(tries()).toBe(before);
  });

  test.each([
    ["an attempt has no answer yet", [readOnly, null]],
    ["what became of an earlier attempt isn't known", [lost, readOnly]],
  ])("a change that is given up may still happen where %s", async (_, ends) => {
    const { time, change } = openScene(ends);
    await time.run(5_000);
    await expect(change).rejects.toMatchObject({
      code: "TASKGATE_STORE_UNCERTAIN",
      message: expect.stringMatching(/gave up after 5 s: the change may still happen$/),
    });
  });
});

/** A store that needs `lastsMs` for each call, behind a patience of 15 s, and of `wholeMs` for a read of the whole database. */
function openSlowStore(lastsMs: number, wholeMs: number) {
  const time = new VirtualTime();
  const calls = new PatientCalls({
    ...{ timeoutMs: 15_000, sayAfterMs: 3_000, onSlow: () => undefined },
    timers: { after: (ms, callback) => time.after(ms, callback), soon: setImmediate },
  });
  const answer = { status: "sound", findings: [] };
  const slow = { checkInvariants: () => time.sleep(lastsMs).then(() => answer) } as never;
  const other = { listDefinitions: () => time.sleep(lastsMs).then(() => []) } as never;
  const store = patientStore(other, calls, { store: slow, timeoutMs: wholeMs });
  return { time, store, answer };
}

describe("a read of the whole database", () => {
  test("a read of the whole database is waited for longer than other calls", async () => {
    const { time, store, answer } = openSlowStore(60_000, 3_600_000);
    const read = store.checkInvariants();
    await time.run(60_000);
    expect(await read).toEqual(answer);
  });

  test("a read of the whole database is given up after a time of its own, which its error names", async () => {
    const { time, store } = openSlowStore(60_000, 20_000);
    const read = store.checkInvariants();
    read.catch(() => undefined);
    await time.run(20_000);
    await expect(read).rejects.toThrow("gave up after 20 s");
    await expect(store.listDefinitions({})).rejects.toThrow("gave up after 20 s");
  });

  test("a read of the whole database doesn't make others wait for longer", async () => {
    const { time, store } = openSlowStore(60_000, 3_600_000);
    const read = store.listDefinitions({});
    read.catch(() => undefined);
    await time.run(15_000);
    await expect(read).rejects.toThrow("gave up after 15 s");
  });
});
