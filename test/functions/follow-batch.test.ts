import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { runCli } from "../../shared/cli/main";
import type { BatchReport } from "../../shared/admin/batch-actions";
import type { BatchId } from "../../shared/core/ids";
import { filled } from "../contract/batch-builders";
import { startWorker, uniqueName } from "../support/builders";
import { startNetwork } from "../support/silent-network";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: `taskgate batch ID --follow` shows how far a batch is until it ends, and its exit code says how it ended.
let api: ApiSetup;
let name: string;
beforeAll(async () => {
  api = await setupApi();
}, 60_000);
afterAll(() => api.close());
beforeEach(async () => {
  name = uniqueName("follow");
  await api.register(name);
});

/** Follows a batch; each action happens between two looks. Behind the last one the person types Ctrl+C. */
async function follow(
  words: readonly string[],
  between: (() => Promise<unknown>)[],
  url = api.operatorUrl,
): Promise<{ code: number; out: string[]; error: string[]; shown: string[]; pauses: number[] }> {
  const ended = { out: [], error: [], shown: [], pauses: [] } as {
    out: string[];
    error: string[];
    shown: string[];
    pauses: number[];
  };
  const code = await runCli({
    words: ["batch", ...words],
    environment: { TASKGATE_DATABASE_URL: url },
    folder: "/nowhere",
    output: {
      line: (text) => void ended.out.push(text),
      error: (text) => void ended.error.push(text),
      rewrite: (text) => void ended.shown.push(text),
      columns: null,
    },
    repeater: () => ({
      pause: async (ms) => {
        ended.pauses.push(ms);
        const next = between.shift();
        await next?.();
        return next !== undefined;
      },
    }),
  });
  return { code, ...ended };
}

/** Ends so many tasks, and lets the next wave open, as a worker does. */
async function work(batchId: BatchId, count: number, as: "done" | "dead" = "done"): Promise<void> {
  const worker = await startWorker(api.store, name, { want: 4 });
  const claimed = await worker.claim(count);
  if (as === "dead") await worker.fail(claimed, { as: "dead" });
  else await worker.complete(claimed);
  await worker.finish();
  await api.store.pumpBatch({ batchId, max: 100 });
}

async function started(counts: number[], failurePolicy: "halt" | "continue"): Promise<BatchId> {
  const { batchId } = await filled(api.store, name, { counts, failurePolicy });
  await api.store.startBatch({ batchId, seal: true });
  return batchId;
}

describe("batch --follow", () => {
  test("a bar moves with the ended tasks, and the end of a good batch is 0", async () => {
    const id = await started([4, 1], "halt");
    const { code, out, shown, error, pauses } = await follow(
      [id, "--follow", "--every", "10s"],
      [() => work(id, 2), () => work(id, 2), () => work(id, 1)],
    );
    expect(code).toBe(0);
    expect(shown.slice(0, 3)).toEqual([
      expect.stringMatching(/^\[-{24}\] {3}0 % {2}wave 1 of 2: 0 of 5 ended, 5 left$/),
      expect.stringMatching(
        /^\[#{10}-{14}\] {2}40 % {2}wave 1 of 2: 2 of 5 ended, 3 left, about \d/,
      ),
      expect.stringMatching(/^\[#+-+\] {2}80 % {2}wave 2 of 2: 4 of 5 ended, 1 left, about \d/),
    ]);
    expect(out).toEqual([expect.stringMatching(/: done, 5 of 5 tasks ended\.(.*\n)+WAVE /)]);
    expect(error).toEqual([]);
    expect(pauses).toEqual([10_000, 10_000, 10_000]);
  });

  test("a time alone follows, too", async () => {
    const id = await started([1], "halt");
    const { code, pauses } = await follow([id, "--every", "10s"], [() => work(id, 1)]);
    expect([code, pauses]).toEqual([0, [10_000]]);
  });

  test("dead tasks are told, and are 1 at the end", async () => {
    const id = await started([2], "continue");
    const { code, shown } = await follow(
      [id, "--follow"],
      [() => work(id, 1, "dead"), () => work(id, 1)],
    );
    expect(shown[1]).toContain("1 of 2 ended, 1 of them dead, 1 left");
    expect(code).toBe(1);
  });

  test("a halt ends it with 1, and says what continues the batch", async () => {
    const id = await started([1, 1], "halt");
    const { code, out, error } = await follow([id, "--follow"], [() => work(id, 1, "dead")]);
    expect(code).toBe(1);
    expect(out[0]).toContain(": halted, 1 of 2 tasks ended");
    expect(error).toEqual([
      `It halts after a dead task: \`taskgate batch ${id} --resume\` continues it.`,
    ]);
  });

  test("without --follow, the next step of a halted batch and of a draft is told", async () => {
    const id = await started([1, 1], "halt");
    await work(id, 1, "dead");
    const { out } = await follow([id], []);
    expect(out[0]).toContain(
      `\nIt halts after a dead task: \`taskgate batch ${id} --resume\` continues it.`,
    );
    const { batchId } = await filled(api.store, name, { counts: [1] });
    const draft = await follow([batchId], []);
    expect(draft.out[0]).toContain("\nIt hasn't been started: the code that made it starts it");
    const { out: running } = await follow([await started([1], "halt")], []);
    expect(running[0]).not.toMatch(/starts it|continues it/);
  });

  test("a cancelled batch is 1; one that hasn't been started is waited for", async () => {
    const { batchId } = await filled(api.store, name, { counts: [1] });
    const cancel = () => api.admin.cancelBatch({ batchId, changedBy: "test" });
    const { code, shown, pauses } = await follow([batchId, "--follow"], [cancel]);
    expect(shown[0]).toContain("not started: 0 of 1 ended");
    expect([code, pauses]).toEqual([1, [2_000]]);
  });

  test("each look of batch --follow with --json is a line; Ctrl+C is 130", async () => {
    const id = await started([2], "halt");
    const { code, out, error } = await follow([id, "--follow", "--json"], [() => work(id, 1)]);
    expect(code).toBe(130);
    const looks = out.map((line) => JSON.parse(line) as BatchReport);
    expect(looks.map(({ ended, tasks }) => [ended, tasks])).toEqual([
      [0, 2],
      [1, 2],
    ]);
    expect(error).toEqual([]);
  });

  test("the command batch --follow goes on when the database is away between two looks, and shows that", async () => {
    const id = await started([1], "halt");
    const network = await startNetwork(new URL(api.operatorUrl));
    const { code, shown } = await follow(
      [id, "--follow", "--timeout", "1s"],
      [network.fallSilent, network.speakAgain, () => work(id, 1)],
      network.url,
    );
    network.close();
    expect(code).toBe(0);
    expect(shown[1]).toMatch(/^taskgate: The database doesn't answer/);
    expect(shown[2]).toContain("0 of 1 ended");
  });

  test("an unknown batch is refused at once", async () => {
    const { code, pauses } = await follow(["999999", "--follow"], []);
    expect([code, pauses]).toEqual([3, []]);
  });
});
