import type { Client } from "pg";
import type { Book } from "./book";
import type { FedOperation } from "./feeder";
import type { Verdict } from "./verdict";

interface EndedTask {
  readonly task: string;
  readonly outcome: number;
  readonly fence: string | null;
  readonly parent: string | null;
  readonly way: string | null;
}

const done = 10;

/** One holder, nothing lost and once, judged by the database's rows at the end of the run. */
export async function judgeEnds(
  facts: { client: Client; book: Book; operations: readonly FedOperation[] },
  verdict: Verdict,
): Promise<void> {
  const { client, book, operations } = facts;
  const ended = await readEnded(client);
  const byId = new Map<string, EndedTask>();
  for (const task of ended) {
    if (byId.has(task.task)) verdict.broken("nothing lost", `task ${task.task} ended twice`);
    byId.set(task.task, task);
    if (task.outcome !== done)
      verdict.broken(
        "nothing lost",
        `task ${task.task} ended with ${String(task.outcome)}, not done`,
      );
  }
  const told = new Set(operations.flatMap(({ taskIds }) => taskIds));
  for (const task of told) {
    verdict.check("nothing lost");
    if (!byId.has(task))
      verdict.broken("nothing lost", `task ${task} was acknowledged and is nowhere`);
  }
  for (const { task, parent } of ended) {
    if (parent === null && !told.has(task))
      verdict.broken("once", `task ${task} is there and no answer ever named it`);
  }
  for (const [task, fences] of book.acks) {
    verdict.check("one holder");
    const fence = byId.get(task)?.fence;
    if (fence === undefined || fence === null || !fences.has(fence))
      verdict.broken(
        "one holder",
        `task ${task}: fence ${[...fences].join()} was told to count, ${String(fence)} does`,
      );
  }
  await judgeEffects(client, byId, verdict);
  judgeChildren(ended, verdict);
}

async function readEnded(client: Client): Promise<EndedTask[]> {
  const { rows } = await client.query<EndedTask>(
    `select a.task_id::text as task, a.outcome::int as outcome, a.fence::text as fence,
            a.payload::json ->> 'parent' as parent, a.payload::json ->> 'way' as way
       from taskgate.archived a`,
  );
  return rows;
}

/** Each task that commits has one effect, under the fence that counts; no other task has one. */
async function judgeEffects(
  client: Client,
  byId: ReadonlyMap<string, EndedTask>,
  verdict: Verdict,
): Promise<void> {
  const { rows } = await client.query<{ task: string; fence: string }>(
    "select task_id::text as task, fence::text as fence from public.effect",
  );
  const effects = new Map<string, string>();
  for (const { task, fence } of rows) {
    verdict.check("one holder");
    if (effects.has(task)) verdict.broken("one holder", `task ${task} has more than one effect`);
    effects.set(task, fence);
    const counts = byId.get(task)?.fence;
    if (counts !== fence)
      verdict.broken(
        "one holder",
        `task ${task}: effect of fence ${fence}, completion of ${String(counts)}`,
      );
  }
  for (const { task, way } of byId.values()) {
    if (way === "commit" && !effects.has(task))
      verdict.broken("nothing lost", `task ${task} is done and its effect is missing`);
  }
}

/** A child was enqueued with its parent's completion: it exists once. */
function judgeChildren(ended: readonly EndedTask[], verdict: Verdict): void {
  const children = new Map<string, number>();
  for (const { parent } of ended)
    if (parent !== null) children.set(parent, (children.get(parent) ?? 0) + 1);
  for (const { task, way } of ended) {
    if (way !== "child") continue;
    verdict.check("once");
    const count = children.get(task) ?? 0;
    if (count !== 1)
      verdict.broken("once", `task ${task} is done and has ${String(count)} children`);
  }
}
