import { rules } from "./planted-fault";
import type { PlantedFault } from "./planted-fault";

const id = "00000000-0000-4000-8000-00000000000a";

function setTokens(name: string, text: string): string {
  return `UPDATE taskgate.task_definition SET execution_tokens = '${text}' WHERE name = '${name}'`;
}

/** T-SQL: a token is a row. */
function tokenRow(name: string, heldBy: string, place: number): string {
  return `INSERT INTO Taskgate.Token (TaskDefinitionId, HeldBy, Ord, TokenId, LastHeldBy)
    SELECT d.TaskDefinitionId, ${heldBy}, ${String(place)}, '${id}', 0 FROM Taskgate.TaskDefinition AS d WHERE d.Name = N'${name}'`;
}

/** What can be wrong with the tokens of a definition. */
export const tokenFaults: readonly PlantedFault[] = [
  {
    title:
      "a token text that can't be read, cut to 100 characters; its holder's tokens are missing",
    sql: setTokens("one", "t".repeat(150)),
    found: [
      [rules.readable, "one", "t".repeat(100)],
      [rules.counted, "{worker}", "0 in the string, 2 counted"],
    ],
  },
  {
    title: "held tokens that nobody holds, each by itself; nothing of a free one",
    sql: setTokens("four", `I:${id},S:0,G:0,I:${id},S:0,G:0`),
    found: [
      [rules.grantee, "four", "G:0"],
      [rules.grantee, "four", "G:0"],
    ],
  },
  {
    title: "nothing of free tokens, of those of the ended, and of those of unknown ones",
    sql: `
      UPDATE taskgate.task_definition SET concurrency_limit = 3 WHERE name = 'four';
      ${setTokens("four", `I:${id},S:1,G:0,I:${id},S:0,G:{ended},I:${id},S:0,G:${"9".repeat(18)}`)}`,
    found: [],
  },
  {
    title: "a token that was granted twice",
    sql: `UPDATE taskgate.task_definition SET execution_tokens = REPLACE(execution_tokens, 'S:1,G:{ended}', 'S:0,G:{worker}')
           WHERE name = 'one'`,
    found: [[rules.counted, "{worker}", "3 in the string, 2 counted"]],
  },
  {
    title: "a count of held tokens that isn't that of the text",
    sql: { mssql: "UPDATE Taskgate.TaskDefinition SET HeldCount = 1 WHERE Name = N'one'" },
    found: [[rules.heldCount, "one", "1 counted, 2 in the string"]],
  },
  {
    title: "a row of a free token too many",
    sql: { mssql: tokenRow("one", "0", 9) },
    found: [[rules.free, "one", "4 tokens, limit 3"]],
  },
  {
    title: "a row of a held token too many, whose holder counts fewer",
    sql: { mssql: tokenRow("one", "{worker}", 9) },
    found: [
      [rules.counted, "{worker}", "3 in the string, 2 counted"],
      [rules.heldCount, "one", "2 counted, 3 in the string"],
      [rules.free, "one", "4 tokens, limit 3"],
    ],
  },
  {
    title: "a row of a token without a limit",
    sql: { mssql: tokenRow("two", "{ended}", 0) },
    found: [
      [rules.heldCount, "two", "0 counted, 1 in the string"],
      [rules.unlimited, "two", `I:${id},S:0,G:{ended}`],
    ],
  },
  {
    title: "a counted token that isn't in the text",
    sql: "UPDATE taskgate.task_execution SET token_count = 3 WHERE task_execution_id = {worker}",
    found: [[rules.counted, "{worker}", "2 in the string, 3 counted"]],
  },
  {
    title: "tokens in the text of one that counts none, and of one that has no limit",
    sql: `
      UPDATE taskgate.task_execution SET token_count = 0 WHERE task_execution_id = {worker};
      ${setTokens("four", `I:${id},S:0,G:{free}`)}`,
    found: [
      [rules.counted, "{worker}", "2 in the string, 0 counted"],
      [rules.counted, "{free}", "1 in the string, 0 counted"],
    ],
  },
  {
    title: "nothing of what the ended or the dead have counted",
    sql: "UPDATE taskgate.task_execution SET token_count = 5 WHERE task_execution_id IN ({ended}, {dead})",
    found: [],
  },
  {
    title: "a token text without a limit, by the operator",
    sql: "UPDATE taskgate.task_definition SET concurrency_limit_override = -1 WHERE name = 'one'",
    found: [
      [rules.unlimited, "one", "{tokensCut}"],
      [rules.counted, "{worker}", "2 in the string, 0 counted"],
      [rules.free, "one", "3 tokens, limit -1"],
    ],
  },
  {
    title: "a token text without a limit, by the code",
    sql: setTokens("two", `I:${id},S:0,G:{ended}`),
    found: [[rules.unlimited, "two", `I:${id},S:0,G:{ended}`]],
  },
  {
    title: "nothing of a limit that an operator put over none",
    sql: "UPDATE taskgate.task_definition SET concurrency_limit = -1, concurrency_limit_override = 3 WHERE name = 'one'",
    found: [],
  },
  {
    title: "more tokens than the code's limit while one of them is free",
    sql: "UPDATE taskgate.task_definition SET concurrency_limit = 2 WHERE name = 'one'",
    found: [[rules.free, "one", "3 tokens, limit 2"]],
  },
  {
    title: "more tokens than the operator's limit while one of them is free",
    sql: "UPDATE taskgate.task_definition SET concurrency_limit_override = 1 WHERE name = 'one'",
    found: [[rules.free, "one", "3 tokens, limit 1"]],
  },
  {
    title: "nothing while more are held than the limit, and none is free",
    sql: `UPDATE taskgate.task_definition SET execution_tokens = REPLACE(execution_tokens, 'S:1,', 'S:0,'), concurrency_limit = 1
           WHERE name = 'one'`,
    found: [],
  },
];

/** Tokens that can't be read. Their texts are put beside a good free one: nothing more is said of it. */
export const damagedTokens: readonly { readonly why: string; readonly token: string }[] = [
  { why: "the id is none", token: "I:bad,S:1,G:0" },
  { why: "the id is too short", token: `I:${id.slice(1)},S:1,G:0` },
  { why: "the id is too long", token: `I:${id}a,S:1,G:0` },
  { why: "the id has another letter in front", token: `X:${id},S:1,G:0` },
  { why: "the status is none", token: `I:${id},S:2,G:0` },
  { why: "the status is too long", token: `I:${id},S:1 ,G:0` },
  { why: "there is no status", token: `I:${id},I:${id},G:0` },
  { why: "the grantee isn't there", token: `I:${id},S:1,G:` },
  { why: "the grantee has a sign", token: `I:${id},S:1,G:+5` },
  { why: "the grantee ends in a blank", token: `I:${id},S:1,G:5 ` },
  { why: "the grantee begins with a blank", token: `I:${id},S:1,G: 5` },
  { why: "the grantee is too long", token: `I:${id},S:1,G:${"1".repeat(19)}` },
  { why: "the grantee has another letter in front", token: `I:${id},S:1,X:5` },
  { why: "the id's letter is small", token: `i:${id},S:1,G:5` },
  { why: "the status's letter is small", token: `I:${id},s:1,G:5` },
  { why: "the grantee's letter is small", token: `I:${id},S:1,g:5` },
];

/** The text of a damaged token and the good one beside it. */
export function damagedText(token: string): string {
  return `${token},I:${id},S:0,G:0`;
}
