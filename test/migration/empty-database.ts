import { randomUUID } from "node:crypto";
import { databaseUrl, withClient } from "../support/test-postgres";

/** A database of the test server with nothing in it; `options` of CREATE DATABASE. */
export async function createEmptyDatabase(
  options = "",
): Promise<{ url: string; drop(): Promise<void> }> {
  const server = process.env["TASKGATE_TEST_POSTGRES"];
  if (server === undefined) {
    throw new Error("TASKGATE_TEST_POSTGRES is not set: run through test/jest.config.cjs");
  }
  const name = `empty_${randomUUID().replaceAll("-", "")}`;
  const onServer = (statement: string): Promise<void> =>
    withClient(server, async (client) => {
      await client.query(statement);
    });
  // Not the default template: another client may be connected to it.
  await onServer(`create database ${name} template template0 ${options}`);
  return {
    url: databaseUrl(server, name),
    drop: () => onServer(`drop database ${name} with (force)`),
  };
}

/** Runs `body` in an empty database, made with `options`, and drops it; a test that fails leaves it until the server ends. */
export async function inEmptyDatabase(
  body: (url: string) => Promise<void>,
  options = "",
): Promise<void> {
  const database = await createEmptyDatabase(options);
  await body(database.url);
  await database.drop();
}

/** Rows of one query on a connection of its own. */
export async function rowsOf<Row extends Record<string, unknown>>(
  url: string,
  text: string,
  values: readonly (string | number)[] = [],
): Promise<Row[]> {
  return withClient(url, async (client) => (await client.query<Row>(text, [...values])).rows);
}
