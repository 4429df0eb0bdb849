import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pastedApp } from "./run-blocks";

/** Tells the programs and commands of a page, as `npm start` and `npx taskgate dev` do, where the database and the queues are. */
export function writeLocalRun(addresses: {
  readonly databaseUrl: string;
  readonly queueConnection: string;
}): void {
  mkdirSync(join(pastedApp, ".taskgate"));
  const facts = { ...addresses, url: null, pid: process.pid };
  writeFileSync(join(pastedApp, ".taskgate/local.json"), JSON.stringify(facts));
}
