import { describe, expect, test } from "@jest/globals";
import type { InvariantFinding } from "../../shared/ports/task-store";
import {
  define,
  enqueue,
  operationId,
  registration,
  setLimit,
  startWorker,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { buildFaultScene } from "./fault-scene";
import { floods, ownFloods } from "./floods";
import { rules } from "./planted-fault";
import { plantedFaults } from "./planted-faults";
import { damagedText, damagedTokens } from "./planted-token-faults";
import { fill, inDialect } from "./two-dialects";

/**
 * `check_invariants` finds nothing after any test of this suite (useStore looks), nothing in odd but legal states,
 * each planted fault, and nothing besides it.
 */
export function describeInvariants(setup: StoreSetup): void {
  describe("check_invariants finds nothing", () => {
    describeSound(setup);
  });
  describe("check_invariants finds", () => {
    describeFaults(setup);
  });
}

function describeSound(setup: StoreSetup): void {
  const open = useStore(setup);

  test("check_invariants finds nothing in an empty store", async () => {
    expect(await open().store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });

  test("check_invariants finds nothing while more is held than a lowered limit, also at limit 0", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    await startWorker(store, name, { want: 4 });
    await setLimit(store, name, 0);
    expect((await store.checkInvariants()).status).toBe("sound");
  });

  test("check_invariants finds nothing when the prefetched bound gets stricter while prefetched claims are out", async () => {
    const { store } = open();
    const input = registration({ settings: { prefetchMax: 3 } });
    await store.registerDefinition(input);
    await enqueue(store, input.name, 4);
    const worker = await startWorker(store, input.name);
    expect(await worker.claim(4)).toHaveLength(4);
    const settings = { ...input.settings, prefetchMax: 0 };
    await store.registerDefinition({ ...input, build: 2, settings });
    expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });

  test("check_invariants finds nothing when a worker returned tokens of handlers that ended before it told so", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2, prefetchMax: 0 });
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    await worker.claim(2);
    await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
    expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });

  test("check_invariants finds nothing while a dead holder keeps claims that weren't taken back yet", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    const worker = await startWorker(store, name);
    await worker.claimOne();
    await opened.advance(10_001);
    await startWorker(store, name);
    expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });

  test("check_invariants finds nothing with a strict group's retry, a continued task, keys of any window, no limit", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: null, groupStrict: true });
    await enqueue(store, name, [
      { group: "g", dedupeKey: "a" },
      { group: "g", dedupeKey: "b", dedupeMs: 1_000 },
      { dedupeKey: "c", dedupeMs: 1_000 },
    ]);
    const worker = await startWorker(store, name, { want: 3 });
    const [first, third] = await worker.claim(3);
    if (!first || !third) throw new Error("two tasks expected");
    await worker.fail([first], { retryInMs: 60_000 });
    await worker.fail([third], { as: "continued", retryInMs: 60_000, checkpoint: "[]" });
    await opened.advance(2_000);
    expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });
}

/** In one order. */
function sorted(findings: readonly InvariantFinding[]): string[] {
  return findings.map(({ rule, key, detail }) => `${rule} | ${key} | ${detail}`).sort();
}

function describeFaults(setup: StoreSetup): void {
  const open = useStore(setup);
  const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";

  testWith(setup, "raw sql")(
    "check_invariants finds nothing in the scene in which faults are planted",
    async () => {
      const opened = open();
      await buildFaultScene(opened, dialect);
      expect(await opened.store.checkInvariants()).toEqual({ status: "sound", findings: [] });
    },
  );

  // One caller, who only reads: on connections that get lost there is no more to see.
  for (const { title, sql, found } of plantedFaults) {
    const statements = typeof sql === "string" ? sql : sql[dialect];
    if (statements === undefined) continue;
    testWith(
      setup,
      "raw sql",
      "sure calls",
    )(title, async () => {
      const opened = open();
      const scene = await buildFaultScene(opened, dialect);
      opened.expectDamage();
      // Faults are planted in the form of the source text; where the store keeps a list of its own, a text that is written wins.
      if (!/HeldCount|Taskgate\.Token\b/.test(statements))
        await opened.writeTokens("one", await opened.readTokens("one"));
      await opened.raw(
        typeof sql === "string" ? inDialect(dialect, sql, scene) : fill(statements, scene),
      );
      const { status, findings } = await opened.store.checkInvariants();
      expect(sorted(findings)).toEqual(
        sorted(
          found.map(([rule, key, detail]) => {
            return { rule, key: fill(key, scene), detail: fill(detail, scene) };
          }),
        ),
      );
      expect(status).toBe(found.length === 0 ? "sound" : "broken");
    });
  }

  testWith(setup, "token text")(
    "check_invariants finds damaged tokens, and nothing else of their text",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      opened.expectDamage();
      for (const { why, token } of damagedTokens) {
        const text = damagedText(token);
        await opened.writeTokens(name, text);
        const { findings } = await store.checkInvariants();
        const detail = text.slice(0, 100);
        expect({ why, findings }).toEqual({
          why,
          findings: [{ rule: rules.readable, key: name, detail }],
        });
      }
    },
  );

  testWith(
    setup,
    "raw sql",
    "sure calls",
  )(
    "check_invariants finds damaged tokens of a shared limit, and nothing else of their text",
    async () => {
      const opened = open();
      const { store } = opened;
      const input = { name: "s", limit: 5, operationId: operationId(), changedBy: "an operator" };
      await store.setSharedLimit(input);
      opened.expectDamage();
      for (const { why, token } of damagedTokens) {
        const text = damagedText(token);
        const sql = `UPDATE taskgate.shared_limit SET execution_tokens = '${text}'`;
        await opened.raw(inDialect(dialect, sql, new Map()));
        const { findings } = await store.checkInvariants();
        const detail = text.slice(0, 100);
        expect({ why, findings }).toEqual({
          why,
          findings: [{ rule: rules.sharedReadable, key: "s", detail }],
        });
      }
    },
  );

  testWith(
    setup,
    "raw sql",
    "sure calls",
  )("check_invariants finds at most 100 faults for each rule", async () => {
    const opened = open();
    opened.expectDamage();
    const scene = await buildFaultScene(opened, dialect);
    for (const sql of floods) await opened.raw(inDialect(dialect, sql, scene));
    await opened.raw(fill(ownFloods[dialect], scene));
    const { findings } = await opened.store.checkInvariants();
    // There are eleven counters.
    const manyFold = Object.values(rules).filter((rule) => rule !== rules.counter);
    const counts = manyFold.map((rule) => {
      return [rule, findings.filter((finding) => finding.rule === rule).length];
    });
    const missing: readonly string[] =
      dialect === "mssql" ? [rules.lengths, rules.prefetched] : [rules.heldCount];
    expect(counts).toEqual(manyFold.map((rule) => [rule, missing.includes(rule) ? 0 : 100]));
  });

  testWith(setup, "token text")(
    "a token text that can't be read, and goes on with the rest",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await opened.writeTokens(name, "tokens");
      opened.expectDamage();
      const { status, findings } = await store.checkInvariants();
      expect(status).toBe("broken");
      expect(findings.map((finding) => finding.key)).toContain(name);
    },
  );
}
