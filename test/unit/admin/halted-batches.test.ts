import { expect, test } from "@jest/globals";
import { listBatches } from "../../../shared/admin/batch-actions";
import { runDoctor } from "../../../shared/admin/doctor";
import { readStatus } from "../../../shared/admin/status-report";
import { commands } from "../../../shared/cli/commands";
import { parseCommandLine } from "../../../shared/cli/parse-arguments";
import { realRandom } from "../../../shared/platform/real-clock";
import { examineApp } from "../../../shared/remote/app-doctor";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { filled, start } from "../../contract/batch-builders";
import { define, startWorker } from "../../support/builders";

/* Goal: the doctor tells of batches that halted, beside the database and through an app, and of no others. */

/** A store whose first batch of two waves lost its first task; the second batch runs. */
async function openScene() {
  const store = new MemoryTaskStore({
    clock: { now: () => 1_700_000_000_000 },
    random: realRandom,
  });
  const name = await define(store, { limit: 10 });
  const batch = await filled(store, name, { counts: [1, 1] });
  const other = await filled(store, name, { counts: [1], name: "hourly" });
  await start(store, batch);
  const worker = await startWorker(store, name, { want: 1 });
  await worker.fail(await worker.claim(1), { as: "dead" });
  await start(store, other);
  return { store, batchId: batch.batchId };
}

const textOf = (batchId: string) =>
  `nightly halted after a dead task. \`taskgate failures --batch ${batchId}\` names the definitions of the dead ones, \`taskgate redrive NAME --all --batch ${batchId}\` runs them again in their wave, \`taskgate batch ${batchId} --resume\` goes on with the next wave.`;

test("the doctor names a batch that halted, its dead tasks and the command that continues it", async () => {
  const { store, batchId } = await openScene();
  const { findings } = await runDoctor({ store, build: 1, deep: false, probes: [] });
  expect(findings.filter(({ check }) => check.startsWith("batch"))).toEqual([
    { check: `batch ${batchId}`, status: "note", text: textOf(batchId) },
  ]);
});

test("the doctor of an app that runs elsewhere names it, too", async () => {
  const { store, batchId } = await openScene();
  const tools = { store, wakeUp: { hint: () => Promise.resolve() } } as never;
  const reads = {
    status: () => readStatus({ store, build: 1 }),
    batches: (request: { readonly max: number }) => listBatches(tools, request),
    stopState: () => Promise.resolve(null),
  };
  const { findings } = await examineApp(reads, { deep: false });
  expect(findings.filter(({ check }) => check.startsWith("batch"))).toEqual([
    { check: `batch ${batchId}`, status: "note", text: textOf(batchId) },
  ]);
});

test("the doctor says nothing of a batch that was resumed", async () => {
  const { store, batchId } = await openScene();
  await store.resumeBatch({ batchId });
  const { findings } = await runDoctor({ store, build: 1, deep: false, probes: [] });
  expect(findings.filter(({ check }) => check.startsWith("batch"))).toEqual([]);
});

test("each command that the doctor tells of a halted batch is one that the command line takes", async () => {
  const { store } = await openScene();
  const { findings } = await runDoctor({ store, build: 1, deep: false, probes: [] });
  const text = findings.find(({ check }) => check.startsWith("batch"))?.text ?? "";
  const told = [...text.matchAll(/`taskgate ([^`]+)`/g)].map(([, line = ""]) => line.split(" "));
  expect(told).toHaveLength(3);
  for (const words of told)
    expect(parseCommandLine(words, commands)).toMatchObject({ command: { name: words[0] } });
});
