import { createRequire } from "node:module";
import { SqlTaskStore } from "../../../shared/store/sql-task-store";
import type { describeStore as DescribeStore } from "../../contract/store.contract";
import type { withoutLogins as WithoutLogins } from "../../support/mssql-setup";
import type { StoreSetup } from "../../support/store-setup";
import type { WorldTestStore as TestStore } from "../../support/world-test-store";
import type { World } from "../../tsql-server/engine/world";
import { EngineCaller } from "./engine-caller";
import { LocalServer } from "./local-server";
import type { LocalServerOptions } from "./local-server";
import { collectTests, installGlobals } from "./mini-runner";

/** One test of the contract suite, to be run on any world. */
export interface SuiteTest {
  readonly title: string;
  /** Runs it on copies of a world. Never rejects. */
  run(template: World, options: LocalServerOptions): Promise<TestRun>;
}

export interface TestRun {
  /** undefined: it passed. A fault of the engine comes before what the test made of it. */
  readonly failure: Error | undefined;
  readonly steps: number;
  readonly statements: number;
}

/** What the test under way runs on. */
let current: { readonly template: World; readonly options: LocalServerOptions } | undefined;
let servers: LocalServer[] = [];

/**
 * The contract suite over the engine, in this process. Its stores repeat nothing: a deadlock reaches the test. Call it
 * once, in a process that isn't jest's.
 */
export function loadSuite(): SuiteTest[] {
  installGlobals();
  // Loaded here, since they take their `test` and `expect` from the functions just installed.
  const requireLater = createRequire(__filename);
  const { describeStore } = requireLater("../../contract/store.contract") as {
    describeStore: typeof DescribeStore;
  };
  const { WorldTestStore } = requireLater("../../support/world-test-store") as {
    WorldTestStore: typeof TestStore;
  };
  const { withoutLogins } = requireLater("../../support/mssql-setup") as {
    withoutLogins: typeof WithoutLogins;
  };
  const setup: StoreSetup = {
    dialect: "mssql",
    missing: {
      "isolation level": "each procedure of SQL Server sets its own",
      rights: "everybody is the database's owner here",
    },
    open: () => {
      const { server, world } = openServer();
      const store = new SqlTaskStore(new EngineCaller(server), (call) => call());
      return Promise.resolve(new WorldTestStore(withoutLogins(store), world));
    },
    close: () => Promise.resolve(),
  };
  const tests = collectTests(() => {
    describeStore(setup);
  });
  return tests.flatMap(({ title, run }) => (run === undefined ? [] : [toSuiteTest(title, run)]));
}

function openServer(): { server: LocalServer; world: World } {
  if (current === undefined) throw new Error("No test is under way");
  const world = current.template.fork();
  const server = new LocalServer(world, current.options);
  servers.push(server);
  return { server, world };
}

function toSuiteTest(title: string, body: () => Promise<void>): SuiteTest {
  return {
    title,
    run: async (template, options) => {
      current = { template, options };
      servers = [];
      const failure = await body().then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
      );
      const sum = (count: (server: LocalServer) => number): number =>
        servers.reduce((total, server) => total + count(server), 0);
      const faults = servers.flatMap(({ fault }) => fault ?? []);
      const deadlocks = servers.filter(({ world }) => world.deadlocks > 0);
      for (const server of servers) server.close();
      current = undefined;
      const [fault = deadlocks.length > 0 ? new Error("Callers deadlocked") : undefined] = faults;
      return {
        failure: fault ?? failure,
        steps: sum((server) => server.steps),
        statements: sum((server) => server.statements),
      };
    },
  };
}
