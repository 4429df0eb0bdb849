import { expect, test } from "@jest/globals";
import { define, operationId } from "../support/builders";
import { definitionId } from "../support/contention";
import { useContention } from "../support/use-contention";
import { explainStatementsOf, onPlan } from "../support/plan-log";
import { loginNames } from "../support/roles";
import { storeOver } from "../support/store-over-connection";

/*
 * What the check of all invariants reads on PostgreSQL: it reads everything, but not everything once more for each wave.
 */
const scene = useContention(() => true); // rows are written past the operations

const tasks = 5_000;
const waves = 100;

interface PlanNode {
  readonly "CTE Name"?: string;
  readonly "Actual Loops"?: number;
  readonly "Actual Rows"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How many rows of the list of all places are gone through. */
function placesWalked(node: PlanNode): number {
  const rows = (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0);
  const own = node["CTE Name"] === "places" ? rows * (node["Actual Loops"] ?? 0) : 0;
  return own + (node.Plans ?? []).map(placesWalked).reduce((sum, walked) => sum + walked, 0);
}

test("the check of all invariants goes through the blocked tasks once for each rule, however many waves there are", async () => {
  const owner = scene.openStore(1);
  const name = await define(owner, { limit: 4 });
  const id = String(await definitionId(scene.client, name));
  const batch = { operationId: operationId(), name: "many", failurePolicy: "halt" } as const;
  const { waveIds } = await owner.createBatch({ ...batch, waves });
  const [first = ""] = waveIds;
  for (const statement of [
    `insert into taskgate.task (task_id, task_definition_id, kind, priority, created_at, wave_id)
     select n, ${id}, 'one', 100, now(), ${first} + n % ${String(waves)} from generate_series(1, ${String(tasks)}) n`,
    `insert into taskgate.wave_blocked (wave_id, priority, rank, task_id, task_definition_id)
     select t.wave_id, 100, 0, t.task_id, ${id} from taskgate.task t`,
    `select setval('taskgate.task_sequence', ${String(tasks)})`,
  ])
    await scene.client.query(statement);
  await scene.client.query("vacuum analyze");

  await explainStatementsOf(scene.client, loginNames.operator, {
    "auto_explain.log_analyze": "on",
  });
  const session = await scene.connect("operator");
  const walked: number[] = [];
  await onPlan<PlanNode>(session, ({ Plan: plan }) => walked.push(placesWalked(plan)));
  const store = storeOver(session, scene.url);
  expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  await store.close();
  expect(Math.max(...walked)).toBeGreaterThan(tasks);
  expect(Math.max(...walked)).toBeLessThan(20 * tasks);
});
