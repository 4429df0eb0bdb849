import { expect, test } from "@jest/globals";
import { defineTask } from "../../../shared/worker/define/define-task";
import { measureDefinitions } from "../../../shared/worker/run/measure-definitions";
import { openWorkerBench, overriding } from "./worker-bench";

const own = defineTask({ name: "own", limit: 4, run: async () => undefined });
const other = defineTask({ name: "other", limit: null, run: async () => undefined });

test("gauges tell of this app's definitions alone, and of the oldest ready task", async () => {
  const bench = openWorkerBench([own, other]);
  await bench.client.enqueue(own);
  await bench.client.enqueue(other);
  const told: Record<string, number> = {};
  const telemetry = {
    ...bench.environment.telemetry,
    gauge: (name: string, value: number, attributes = {}) => {
      expect(attributes).toEqual({ definition: "own" });
      told[name.replace("taskgate.definition.", "")] = value;
    },
  };
  await measureDefinitions({ ...bench.environment, telemetry }, new Set(["own"]));
  const { oldest_ready: age = -1, ...counts } = told;
  expect(counts).toEqual({
    ...{ ready: 1, scheduled: 0, waiting: 0, running: 0 },
    ...{ dead: 0, held: 0, limit: 4 },
  });
  expect(age).toBeGreaterThanOrEqual(0);
});

test("a definition without a limit has no gauge of it", async () => {
  const bench = openWorkerBench([other]);
  await bench.client.enqueue(other);
  const names: string[] = [];
  const telemetry = {
    ...bench.environment.telemetry,
    gauge: (name: string) => void names.push(name),
  };
  await measureDefinitions({ ...bench.environment, telemetry }, new Set(["other"]));
  expect(names).toContain("taskgate.definition.ready");
  expect(names).not.toContain("taskgate.definition.limit");
});

test("a process without gauges reads nothing, and a read that fails is told and ends nothing", async () => {
  const bench = openWorkerBench([own]);
  let reads = 0;
  const store = overriding(bench.store, {
    listDefinitions: () => {
      reads += 1;
      return Promise.reject(new Error("away"));
    },
  });
  const environment = { ...bench.environment, store };
  await measureDefinitions(environment, new Set(["own"]));
  expect(reads).toBe(0);
  const telemetry = { ...environment.telemetry, gauge: () => undefined };
  await measureDefinitions({ ...environment, telemetry }, new Set(["own"]));
  expect(bench.lines.map(({ level, message, fields }) => [level, message, fields])).toEqual([
    ["warn", "the definitions could not be measured", { error: "away" }],
  ]);
});

test("each of more than fifty definitions with ready tasks has its turn, and none is told an age that wasn't read", async () => {
  const kinds = Array.from({ length: 70 }, (_, n) =>
    defineTask({ name: `n${String(n)}`, run: async () => undefined }),
  );
  const bench = openWorkerBench(kinds);
  for (const kind of kinds.slice(1)) await bench.client.enqueue(kind);
  const measured = async (): Promise<string[]> => {
    const aged: string[] = [];
    const gauge = (name: string, value: number, { definition }: { definition?: string } = {}) => {
      if (name !== "taskgate.definition.oldest_ready") return;
      aged.push(definition ?? "");
      if (definition === "n0") expect(value).toBe(0);
    };
    const telemetry = { ...bench.environment.telemetry, gauge: gauge as never };
    const names = new Set(kinds.map(({ kind }) => kind));
    await measureDefinitions({ ...bench.environment, telemetry }, names);
    return aged;
  };

  const first = await measured();
  const second = await measured();

  expect([first.length, second.length]).toEqual([51, 51]);
  expect(new Set([...first, ...second]).size).toBe(70);
});
