import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type * as LocalWorkersFile from "../../shared/local/local-workers";
import type { RunPlan } from "../../shared/local/run-plan";
import { ensureBuilt, root } from "../functions/built-app";

test("a run whose first build can't be loaded ends with the error, and says that it is to be started again", async () => {
  ensureBuilt();
  const path = join(root, "dist/shared/local/local-workers.js");
  const { LocalWorkers } = createRequire(__filename)(path) as typeof LocalWorkersFile;
  const ends: (() => Promise<void>)[] = [];
  const plan = {
    app: { root: join(__dirname, "fixtures/throwing-app"), name: "throwing", main: "index.js" },
    options: { hosts: 1, port: 0, isOnce: false },
    teardown: { add: (_: string, end: () => Promise<void>) => ends.push(end) },
    signal: new AbortController().signal,
    say: () => undefined,
    rewrite: null,
    sample: null,
  } as unknown as RunPlan;
  const places = {
    databaseUrl: "postgres://u:p@127.0.0.1:1/d",
    queueConnection: "UseDevelopmentStorage=true",
    hosts: 1,
    hasSample: false,
  };
  const hosting = { places, log: { add: () => undefined }, broken: {} } as never;
  try {
    await expect(new LocalWorkers(plan, hosting).start()).rejects.toThrow(
      /index\.js.*thrown while loading[^]*\nMend it and start `taskgate dev` again: the first build must load\.$/,
    );
  } finally {
    for (const end of ends.reverse()) await end();
  }
});
