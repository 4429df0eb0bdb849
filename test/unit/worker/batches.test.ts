import { describe, expect, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../shared/core/errors";
import type { WaveId } from "../../../shared/core/ids";
import { GiveUp } from "../../../shared/core/task-failure";
import { sleep } from "../../../shared/platform/real-clock";
import type { TaskStore } from "../../../shared/ports/task-store";
import { openWorkerBench, overriding } from "./worker-bench";
import { defineTask } from "../../../shared/worker/define/define-task";
import { taskRef, taskRequest } from "../../../shared/worker/define/task-ref";

interface Step {
  wave: number;
  children?: WaveId;
}

/** Tasks that say which wave they belong to when they begin and end. */
function stepTask(log: string[]) {
  return defineTask<{ wave: number; children?: WaveId }>({
    name: "step",
    run: async ({ wave, children }: Step, ctx) => {
      log.push(`begin ${String(wave)}`);
      if (children !== undefined) {
        await ctx.enqueue(taskRef({ name: "step" }), { wave: wave + 1 }, { wave: children });
      }
      log.push(`end ${String(wave)}`);
    },
  });
}

describe("batches through workers", () => {
  test("no task begins before all of the lower waves have ended; large waves are opened on the way (S4.2)", async () => {
    const log: string[] = [];
    const step = stepTask(log);
    const bench = openWorkerBench([step]);
    const { batches } = bench.client;
    const { batchId, waves } = await batches.create({ name: "nightly", waves: 3 });
    for (const [index, wave] of waves.entries()) {
      const payload = { wave: index + 1 };
      await bench.client.enqueueAll(
        Array.from({ length: 450 }, () => taskRequest(step, payload, { wave })),
      );
    }

    expect(await batches.start(batchId)).toBe("started");
    await bench.work("step", { concurrency: 16 });

    const waveOf = (line: string): number => Number(line.split(" ")[1]);
    expect(log).toHaveLength(2 * 3 * 450);
    expect(log.map(waveOf)).toEqual(log.map(waveOf).sort((a, b) => a - b));
    const { batches: listed } = await bench.store.listBatches({ max: 1 });
    expect(listed).toMatchObject([{ state: "done", waves: waves.map(() => ({ admitted: 450 })) }]);
  });

  test("one execution goes through the waves, however long opening the next one takes", async () => {
    const log: string[] = [];
    const step = stepTask(log);
    const wrap = (store: TaskStore): TaskStore =>
      overriding(store, {
        pumpBatch: async (input) => {
          await sleep(100);
          return store.pumpBatch(input);
        },
      });
    const bench = openWorkerBench([step], { wrap });
    const batch = await bench.client.batches.create({ name: "slow", waves: 3 });
    await bench.client.enqueueAll(
      [1, 2, 3].flatMap((wave) =>
        Array.from({ length: 300 }, () => taskRequest(step, { wave }, { wave: batch.wave(wave) })),
      ),
    );
    await bench.client.batches.start(batch.batchId);
    await bench.work("step", { idleReads: 1, idlePauseMs: 1 });
    expect(log.filter((line) => line.startsWith("end"))).toHaveLength(900);
  });

  test("a task adds to the wave after its own, with its completion", async () => {
    const log: string[] = [];
    const step = stepTask(log);
    const bench = openWorkerBench([step]);
    const batch = await bench.client.batches.create({ name: "fan out", waves: 2 });
    const { batchId } = batch;
    const payload = { wave: 1, children: batch.wave(2) };
    await bench.client.enqueueAll(
      [1, 2, 3].map(() => taskRequest(step, payload, { wave: batch.wave(1) })),
    );

    await bench.client.batches.start(batchId, { seal: false });
    await bench.work("step");

    expect(log.filter((line) => line === "end 2")).toHaveLength(3);
    expect(log.indexOf("begin 2")).toBeGreaterThan(log.lastIndexOf("end 1"));
  });

  for (const now of [false, true]) {
    test(`a redriven task of a wave that is over enqueues outside the batch${now ? ", at once, too" : ""}`, async () => {
      let isBroken = true;
      const done: string[] = [];
      const step = stepTask(done);
      const part = defineTask<{ next: WaveId }>({
        name: "part",
        queue: step.definition,
        run: async ({ next }, ctx) => {
          await ctx.enqueue(taskRef({ name: "step" }), { wave: 2 }, { wave: next, now });
          if (isBroken) throw new GiveUp("broken");
          done.push("part");
        },
      });
      const bench = openWorkerBench([part, step]);
      const policy = { failurePolicy: "continue" } as const;
      const batch = await bench.client.batches.create({ name: "parts", waves: 2, ...policy });
      const payload = { next: batch.wave(2) };
      await bench.client.enqueue(part, payload, { wave: batch.wave(1) });
      await bench.client.enqueue(step, { wave: 2 }, { wave: batch.wave(2) });
      await bench.client.batches.start(batch.batchId, { seal: false });
      await bench.work("step");
      const { batches: listed } = await bench.store.listBatches({ max: 1 });
      expect(listed).toMatchObject([{ state: "done" }]);
      const before = done.length;

      isBroken = false;
      await bench.store.redriveTasks({ name: "step", outcome: "dead", max: 10 });
      await bench.work("step");
      expect(done.slice(before)).toEqual(expect.arrayContaining(["part", "begin 2", "end 2"]));
      expect(await bench.store.listBatches({ max: 1 })).toMatchObject({ batches: listed });
      expect(bench.lines.map(({ message }) => message)).toContain(
        "tasks of a wave that is over run outside their batch",
      );
    });
  }

  test("a task that names a sealed wave, or its own, is refused: it still counts in the batch", async () => {
    const errors: unknown[] = [];
    const adding = defineTask<{ waves: WaveId[] }>({
      name: "adding",
      run: async ({ waves }, ctx) => {
        for (const wave of waves) {
          const self = taskRef({ name: "adding" });
          await ctx
            .enqueue(self, { waves: [] }, { wave, now: true })
            .catch((error: unknown) => errors.push(error));
        }
      },
    });
    const bench = openWorkerBench([adding]);
    const batch = await bench.client.batches.create({ name: "sealed", waves: 2 });
    const payload = { waves: [batch.wave(1), batch.wave(2)] };
    await bench.client.enqueue(adding, payload, { wave: batch.wave(1) });
    await bench.client.enqueue(adding, { waves: [] }, { wave: batch.wave(2) });
    await bench.client.batches.start(batch.batchId);
    await bench.work("adding");
    expect(errors).toEqual([expect.any(InvalidArgumentError), expect.any(InvalidArgumentError)]);
  });

  test("a task's batch is one, however often it is tried; another task's is another", async () => {
    const made: string[] = [];
    const importing = defineTask<{ file: string }>({
      name: "importing",
      retry: { attempts: 3, baseMs: 0, capMs: 0 },
      run: async ({ file }, ctx) => {
        const batch = await ctx.batches.create({ name: file, waves: 2 });
        const other = await ctx.batches.create({ name: `${file}, other`, waves: 1 });
        made.push(`${batch.batchId} ${other.batchId}`);
        await ctx.enqueue(taskRef({ name: "step" }), { wave: 1 }, { wave: batch.wave(1) });
        if (ctx.attempt < 3) throw new Error("broken");
        await ctx.enqueue(starting, { batch: batch.batchId });
      },
    });
    const starting = defineTask<{ batch: string }>({
      name: "starting",
      run: async ({ batch }, ctx) => {
        await ctx.batches.start(batch, { seal: false });
        await ctx.batches.start(batch, { seal: false });
      },
    });
    const log: string[] = [];
    const bench = openWorkerBench([importing, starting, stepTask(log)]);
    await bench.client.enqueue(importing, { file: "a.json" });
    await bench.work("importing");
    await bench.client.enqueue(importing, { file: "a.json" });
    await bench.work("importing");
    await bench.work("starting");
    await bench.work("step");

    const [first, second, third, ...others] = made;
    expect([second, third]).toEqual([first, first]);
    expect(new Set(others).size).toBe(1);
    expect(others[0]).not.toBe(first);
    expect(log).toEqual(["begin 1", "end 1", "begin 1", "end 1"]);
    const { batches } = await bench.store.listBatches({ max: 10 });
    expect(batches.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
      "a.json done",
      "a.json done",
      "a.json, other draft",
      "a.json, other draft",
    ]);
  });

  test("a wave that takes no tasks any more: an error that says why, and nothing is added", async () => {
    const bench = openWorkerBench([stepTask([])]);
    const batch = await bench.client.batches.create({ name: "closed", waves: 1 });
    expect(() => batch.wave(2)).toThrow("Expected `wave` to be 1..1, got `2`");
    const { batchId } = batch;
    const wave = batch.wave(1);
    await bench.client.batches.start(batchId);

    const late = bench.client.enqueue(taskRef({ name: "step" }), { wave: 1 }, { wave });
    await expect(late).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(late).rejects.toThrow(/`wave` .* sealed or opened before/);
  });

  test("a batch that a dead task has halted is resumed by hand", async () => {
    const log: string[] = [];
    const fragile = defineTask<{ breaks: boolean }>({
      name: "fragile",
      retry: { attempts: 1 },
      run: async ({ breaks }) => {
        log.push(breaks ? "breaks" : "works");
        if (breaks) throw new Error("broken");
      },
    });
    const bench = openWorkerBench([fragile]);
    const { batches } = bench.client;
    const { batchId, waves } = await batches.create({ name: "careful", waves: 2 });
    for (const [index, wave] of waves.entries()) {
      await bench.client.enqueue(fragile, { breaks: index === 0 }, { wave });
    }
    await batches.start(batchId);
    await bench.work("fragile");
    expect(log).toEqual(["breaks"]);

    expect(await batches.resume(batchId)).toBe("resumed");
    await bench.work("fragile");
    expect(log).toEqual(["breaks", "works"]);
  });
});

describe("options of batches that nothing has", () => {
  test("batches.create and batches.start refuse them, name the near one, and change nothing", async () => {
    const { client, store } = openWorkerBench([stepTask([])]);
    const { batches } = client;
    const mistyped = { name: "nightly", wave: 1 } as unknown as { name: string; waves: number };
    await expect(batches.create(mistyped)).rejects.toThrow(
      "wave: unknown option of batches.create. Did you mean `waves`? Known are name, waves, failurePolicy",
    );
    for (const [waves, shown] of [
      [1.5, "1.5"],
      [0, "0"],
      [1_001, "1001"],
    ] as const)
      await expect(batches.create({ name: "nightly", waves })).rejects.toThrow(
        `waves: expected a whole number in 1..1000 (${shown})`,
      );
    const { batchId } = await batches.create({ name: "nightly", waves: 1 });
    await expect(batches.start(batchId, { sealed: false } as object)).rejects.toThrow(
      "sealed: unknown option of batches.start. Did you mean `seal`?",
    );
    const text = { seal: "false" } as unknown as { seal: boolean };
    await expect(batches.start(batchId, text)).rejects.toThrow(
      'seal: expected true or false (the text "false")',
    );
    expect(await store.listBatches({ max: 9 })).toMatchObject({ batches: [{ state: "draft" }] });
  });
});
