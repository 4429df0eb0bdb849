import type { Client } from "pg";
import { at } from "./builders";

/** A statement and its plan, as the server tells it; `Plan` has the members that were asked for. */
export interface ToldPlan<Node> {
  readonly "Query Text": string;
  readonly Plan: Node;
}

/**
 * A login's next connections to this database explain each of their statements, also those inside functions. `owner` is a
 * superuser's connection: a login may not ask for that itself. `more`: further settings of auto_explain.
 */
export async function explainStatementsOf(
  owner: Client,
  login: string,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const settings = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    ...more,
  };
  await owner.query("load 'auto_explain'");
  const { rows } = await owner.query<{ name: string }>("select current_database() as name");
  for (const [setting, value] of Object.entries(settings))
    await owner.query(
      `alter role ${login} in database ${at(rows, 0).name} set ${setting} = '${value}'`,
    );
}

/** Tells the plan of each statement of such a connection from here on. */
export async function onPlan<Node>(
  session: Client,
  tell: (told: ToldPlan<Node>) => void,
): Promise<void> {
  session.on("notice", ({ message = "" }) => {
    const start = message.indexOf("{");
    if (message.includes("plan:") && start >= 0)
      tell(JSON.parse(message.slice(start)) as ToldPlan<Node>);
  });
  await session.query("set client_min_messages = log");
}
