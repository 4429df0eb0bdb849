import { rules } from "./planted-fault";
import type { PlantedFault } from "./planted-fault";

const id = "00000000-0000-4000-8000-00000000000a";

function setTokens(name: string, text: string): string {
  return `UPDATE taskgate.shared_limit SET execution_tokens = '${text}' WHERE name = '${name}'`;
}

/** What can be wrong with the tokens of a shared limit: each rule as for a definition's own (planted-token-faults.ts). */
export const sharedFaults: readonly PlantedFault[] = [
  {
    title: "a shared token text that can't be read, cut to 100 characters; its holder's is missing",
    sql: setTokens("pool", "t".repeat(150)),
    found: [
      [rules.sharedReadable, "pool", "t".repeat(100)],
      [rules.sharedCounted, "pool/{drawer}", "0 in the string, 1 counted"],
    ],
  },
  {
    title: "held shared tokens that nobody holds, each by itself",
    sql: setTokens("idle", `I:${id},S:0,G:0,I:${id},S:0,G:0`),
    found: [
      [rules.sharedGrantee, "idle", "G:0"],
      [rules.sharedGrantee, "idle", "G:0"],
    ],
  },
  {
    title: "nothing of free shared tokens, of those of the ended, and of those of unknown ones",
    sql: `
      UPDATE taskgate.shared_limit SET concurrency_limit_override = 3 WHERE name = 'idle';
      ${setTokens("idle", `I:${id},S:1,G:0,I:${id},S:0,G:{ended},I:${id},S:0,G:${"9".repeat(18)}`)}`,
    found: [],
  },
  {
    title: "a shared token that was granted twice",
    sql: "UPDATE taskgate.shared_limit SET execution_tokens = REPLACE(execution_tokens, 'S:1', 'S:0') WHERE name = 'pool'",
    found: [[rules.sharedCounted, "pool/{drawer}", "2 in the string, 1 counted"]],
  },
  {
    title: "a shared token of one that doesn't draw from the limit",
    sql: setTokens("idle", `I:${id},S:0,G:{free}`),
    found: [[rules.sharedCounted, "idle/{free}", "1 in the string, 0 counted"]],
  },
  {
    title: "a counted token that isn't in the shared text",
    sql: "UPDATE taskgate.task_execution SET token_count = 3 WHERE task_execution_id = {drawer}",
    found: [[rules.sharedCounted, "pool/{drawer}", "1 in the string, 3 counted"]],
  },
  {
    title: "nothing of what an ended one has counted of a shared limit",
    sql: "UPDATE taskgate.task_execution SET state = 2, token_count = 5 WHERE task_execution_id = {drawer}",
    found: [],
  },
  {
    title: "a shared token text without a limit, by the operator",
    sql: "UPDATE taskgate.shared_limit SET concurrency_limit_override = -1 WHERE name = 'pool'",
    found: [
      [rules.sharedUnlimited, "pool", "{poolCut}"],
      [rules.sharedCounted, "pool/{drawer}", "1 in the string, 0 counted"],
      [rules.sharedFree, "pool", "2 tokens, limit -1"],
    ],
  },
  {
    title: "a shared token text without a limit, by the code",
    sql: setTokens("wide", `I:${id},S:0,G:{ended}`),
    found: [[rules.sharedUnlimited, "wide", `I:${id},S:0,G:{ended}`]],
  },
  {
    title: "nothing of a shared limit that an operator put over none",
    sql: "UPDATE taskgate.shared_limit SET concurrency_limit = -1, concurrency_limit_override = 3 WHERE name = 'pool'",
    found: [],
  },
  {
    title: "more tokens than the code's shared limit while one of them is free",
    sql: "UPDATE taskgate.shared_limit SET concurrency_limit = 1 WHERE name = 'pool'",
    found: [[rules.sharedFree, "pool", "2 tokens, limit 1"]],
  },
  {
    title: "more tokens than the operator's shared limit while one of them is free",
    sql: "UPDATE taskgate.shared_limit SET concurrency_limit_override = 0 WHERE name = 'pool'",
    found: [[rules.sharedFree, "pool", "2 tokens, limit 0"]],
  },
  {
    title: "nothing while more are held of a shared limit than it allows, and none is free",
    sql: `
      UPDATE taskgate.shared_limit SET execution_tokens = REPLACE(execution_tokens, 'S:1', 'S:0'), concurrency_limit = 1
       WHERE name = 'pool';
      UPDATE taskgate.task_execution SET token_count = 2 WHERE task_execution_id = {drawer}`,
    found: [],
  },
];
