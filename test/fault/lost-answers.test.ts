// The driver must see errors of sockets here as it does outside jest.
import "../support/node-errors";
import { afterAll, describe, expect, test } from "@jest/globals";
import { listableStates } from "../../shared/core/listable-states";
import type { ListableState, TaskStore } from "../../shared/ports/task-store";
import { operations } from "../../shared/store/operations";
import type { OperationName } from "../../shared/store/operations";
import { reading } from "../../shared/store/operations/operation";
import type { Fault } from "../tsql-server/tds/faults";
import { LossyProxy } from "../support/lossy-proxy";
import { postgresSetup } from "../support/postgres-setup";
import { simulatedMssqlSetup } from "../support/simulated-mssql-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { callExample, makeExampleRows } from "../support/example-input";
import { name, scenes } from "./lost-answer-scenes";
import type { Scene } from "./lost-answer-scenes";
import { describeWhole } from "../support/whole";

/*
 * Once: each operation that changes something is cut off behind its commit, before its answer; the store repeats it. What
 * is in the database then equals the state when the answer arrives, and it is sound.
 */

/** An operation that changes something and has no scene of its own is called by its example. */
const exampleScene =
  (operation: OperationName): Scene =>
  async ({ store }) => {
    const rows = await makeExampleRows(store, name);
    return () => callExample(store, operation, rows);
  };

const changing = Object.keys(operations).filter((operation) => !reading.test(operation));
/** And the sweep, which reads and has a scene. */
const lossy = [...new Set([...changing, ...Object.keys(scenes)])] as OperationName[];

/** Everything that people can see, with ids numbered as they come up, kind by kind. */
async function everythingIn(opened: TestStore): Promise<string> {
  const { store } = opened;
  const max = 100;
  const tasks = [];
  for (const state of listableStates) tasks.push(...(await tasksIn(store, state)));
  const seen = {
    definitions: (await store.listDefinitions({})).definitions,
    executions: (await store.listExecutions({ isOpen: false, max })).executions,
    tasks,
    apps: (await store.listApps()).apps,
    groups: (await store.listGroups({ max })).groups,
    sharedLimits: (await store.listSharedLimits({ max })).sharedLimits,
    batches: (await store.listBatches({ max })).batches,
    watermarks: (await store.listWatermarks({ max })).watermarks,
    audit: await opened.readAudit(name),
    statistics: (await store.readStatistics({ name: null, grain: 60, max: 12 })).periods.map(
      ({ claimed, done, failed, lost }) => ({ claimed, done, failed, lost }),
    ),
    // A repeated reschedule counts from its own moment and leaves an entry of its own. Batches have ids of no kind here.
    calls: (await store.listAudit({ max })).entries
      .filter(({ action }) => action !== "reschedule_tasks")
      .map((entry) => ({ ...entry, object: null })),
  };
  const numbers = new Map<string, number>();
  const number = (kind: string, id: string): string => {
    const key = `${kind} ${id}`;
    if (!numbers.has(key)) numbers.set(key, numbers.size + 1);
    return `#${String(numbers.get(key))}`;
  };
  return JSON.stringify(
    seen,
    (key, value: unknown) => {
      if (typeof value !== "string" || key.endsWith("Value")) return value;
      if (/^\d+$/.test(value)) return number(key, value);
      if (/^\d{4}-\d\d-\d\dT/.test(value)) return "an instant";
      return value.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, (id) => number("", id));
    },
    1,
  );
}

async function tasksIn(store: TaskStore, state: ListableState): Promise<unknown[]> {
  const { definitions } = await store.listDefinitions({ name });
  if (definitions.length === 0) return [];
  const { tasks } = await store.listTasks({ name, state, max: 100 });
  return Promise.all(tasks.map(({ task }) => store.explainTask({ taskId: task })));
}

interface Lossy {
  readonly setup: StoreSetup;
  /** The answer to the next call of the operation is lost. */
  lose(operation: OperationName): void;
  /** How many were. */
  lost(): number;
}

function describeLostAnswers({ setup, lose, lost }: Lossy): void {
  test.each(lossy)(
    "the operation %s has its effect once when it is repeated",
    async (operation) => {
      const scene = scenes[operation] ?? exampleScene(operation);
      const sure = await setup.open();
      const once = await scene(sure);
      await once();
      const expected = await everythingIn(sure);
      const opened = await setup.open();
      const call = await scene(opened);
      const before = lost();
      lose(operation);
      await call();
      expect(lost()).toBe(before + 1);
      expect(await everythingIn(opened)).toBe(expected);
      expect(await opened.store.checkInvariants()).toEqual({ status: "sound", findings: [] });
    },
  );
}

describe("PostgreSQL behind a network that loses answers", () => {
  let proxy: LossyProxy | undefined;
  const reach = async (url: string): Promise<string> => {
    const { hostname, port } = new URL(url);
    proxy ??= await LossyProxy.start({ host: hostname, port: Number(port) });
    const through = new URL(url);
    [through.hostname, through.port] = ["127.0.0.1", String(proxy.port)];
    return through.toString();
  };
  const setup = postgresSetup({ reach });
  afterAll(async () => {
    await setup.close();
    await proxy?.close();
  });
  describeLostAnswers({
    setup,
    lose: () => proxy?.loseNext(),
    lost: () => proxy?.lost ?? 0,
  });
});

describeWhole("T-SQL behind a network that loses answers", () => {
  const cut: Fault = { kind: "cut", at: "executed", manner: "rst" };
  let losing: string | undefined;
  let count = 0;
  const setup = simulatedMssqlSetup({
    fault: (point) => {
      if (point.place !== "request" || point.request.kind !== "procedure") return undefined;
      if (point.request.name.toLowerCase() !== `taskgate.${losing ?? ""}`) return undefined;
      losing = undefined;
      count += 1;
      return cut;
    },
  });
  afterAll(() => setup.close());
  describeLostAnswers({
    setup,
    lose: (operation) => (losing = operation.toLowerCase()),
    lost: () => count,
  });
});
