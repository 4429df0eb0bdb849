import { expect, test } from "@jest/globals";
import { createSeededRandom } from "../../shared/testing/seeded-random";
import { taskRequest } from "../../shared/worker/define/task-ref";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import type { LeaseHolder } from "../../shared/worker/run/heartbeat";
import { Chance } from "./chance";
import { Database } from "./database";
import { Host } from "./host";
import { drawDefinitions } from "./kinds";
import type { Plant } from "./plant";
import { VirtualTime } from "./virtual-time";
import { bootWorker, work, sweep } from "./worker-process";

/*
 * Goal: an execution keeps its lease for as long as its process lives and reaches the database, whatever else begins and ends
 * beside it. Method: one process of virtual time without any trouble; a task that outlasts several leases, and other
 * executions that come and go in each of these rhythms.
 */
const lastsMs = 60_000;
const quiet = (): void => undefined;

/** How often a task that outlasts its lease began, and what became of it. */
async function runBeside(everyMs: number, plant: Plant | null = null) {
  const time = new VirtualTime();
  const random = createSeededRandom(1);
  const chance = new Chance(random);
  const observer = { before: quiet, after: quiet };
  const database = new Database({ time, random, observer, tamper: null });
  const host = new Host("host", { time, wallOffsetMs: 0, onCrash: quiet });
  const begun = new Map<string, number>();
  let longRate = 1;
  const definitions = drawDefinitions(chance);
  const own = bootWorker({
    ...{ host, time, chance, database, plant, definitions },
    manners: () => ({ failRate: 0, partRate: 0, deafRate: 0, longRate }),
    faults: () => ({ rate: 0, slowRate: 0 }),
    sendHint: quiet,
    observer: {
      begin: (_, { taskId, definition, signal, fence }) => {
        begun.set(taskId, (begun.get(taskId) ?? 0) + 1);
        return {
          host,
          taskId,
          definition,
          signal,
          fence,
          executionId: null,
          start: null,
          forgottenMs: null,
        };
      },
      end: quiet,
    },
  });
  const add = async (name: "steady" | "wide"): Promise<string> => {
    const kind = own.kinds.find((one) => one.kind === name);
    if (kind === undefined) throw new Error(`There is no kind ${name}`);
    const [added] = await own.client.enqueueAll([taskRequest(kind, { key: "k" })]);
    return added?.taskId ?? "";
  };
  const bounds = { lastsMs: 4 * lastsMs, marginMs: 1_000 };
  let long = "";
  void sweep(own, true).then(async () => {
    long = await add("steady");
    void work(own, "steady", bounds);
  });
  await time.run(2_000);
  longRate = 0;
  const come = (): void => {
    if (time.nowMs > lastsMs) return;
    void add("wide").then(() => work(own, "wide", bounds));
    time.after(everyMs, come);
  };
  come();
  await time.run(2 * lastsMs);
  const row = [...database.rows.archive.values()].find(({ task }) => task.taskId === long);
  return { begun: begun.get(long), outcome: row?.outcome, others: begun.size - 1, definitions };
}

test.each([300, 900, 2_000, 5_000])(
  "a task that outlasts its lease runs once while other executions begin every %i ms",
  async (everyMs) => {
    const { begun, outcome, others, definitions } = await runBeside(everyMs);
    expect(definitions.steady.settings.leaseMs).toBeLessThan(lastsMs / 4);
    expect({ begun, outcome }).toEqual({ begun: 1, outcome: "done" });
    expect(others).toBeGreaterThan(lastsMs / everyMs / 2);
  },
);

/** Each execution that begins puts the beat off: while none is held its timer ends. */
class PutOffHeartbeat extends Heartbeat {
  readonly #ends = new Map<LeaseHolder, () => void>();

  override add(holder: LeaseHolder): () => void {
    for (const end of this.#ends.values()) end();
    for (const each of [...this.#ends.keys(), holder]) this.#ends.set(each, super.add(each));
    return () => {
      this.#ends.get(holder)?.();
      this.#ends.delete(holder);
    };
  }
}

test("a heartbeat that each beginning execution puts off is found", async () => {
  const plant: Plant = {
    name: "a-heartbeat-that-is-put-off",
    promise: "one holder",
    heartbeat: (environment) => new PutOffHeartbeat(environment),
  };
  const { begun, outcome } = await runBeside(300, plant);
  expect({ begun, outcome }).not.toEqual({ begun: 1, outcome: "done" });
});
