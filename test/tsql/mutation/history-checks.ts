import { createRequire } from "node:module";
import { SqlTaskStore } from "../../../shared/store/sql-task-store";
import type { withoutLogins as WithoutLogins } from "../../support/mssql-setup";
import type { StoreSetup } from "../../support/store-setup";
import type { WorldTestStore as TestStore } from "../../support/world-test-store";
import { shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import type { World } from "../../tsql-server/engine/world";
import { runSeed } from "../histories/history";
import { findOther, record } from "../histories/recording";
import type { Recording } from "../histories/recording";
import { historyLength, historySeeds, moreHistorySeeds } from "../histories/seeds";
import type { HistoryStore } from "../histories/side";
import { openSqlStore } from "../histories/sql-stores";
import { CoverageWatch } from "./check";
import type { Check, Noticed } from "./check";
import { EngineCaller } from "./engine-caller";
import { LocalServer } from "./local-server";

/*
 * The random histories that `npm test` compares with the other stores (histories/), as checks of mutants: each call must be
 * answered as by the shipped files, and the rows at the end must be the same.
 */

/** Some times what a history takes. */
const bounds = { stepsMax: 100_000, statementsMax: 100_000 };

/** The histories of `npm test`. Call it after loadSuite, in a process that isn't jest's. */
export async function historyChecks(): Promise<Check[]> {
  const open = storeOpener();
  const shipped = shippedWorld(engines.azure);
  const checks: Check[] = [];
  for (const seed of [...historySeeds, ...moreHistorySeeds]) {
    const { calls } = await runSeed(async () => [(await open(shipped)).store], {
      seed,
      length: historyLength,
    });
    const watch = new CoverageWatch(shipped);
    const { store, server } = await open(shipped);
    const recording = await record(store, calls);
    checks.push({
      title: `history ${String(seed)}`,
      ran: watch.ran(),
      size: server.statements,
      run: async (template) => compare(await open(template), recording),
    });
  }
  return checks;
}

async function compare(
  { store, server }: Opened,
  recording: Recording,
): Promise<Noticed | undefined> {
  try {
    const why = await findOther(store, recording);
    return why === undefined ? undefined : { by: "history", why };
  } catch (error) {
    // A fault of the engine comes before its consequences.
    const fault = server.fault ?? error;
    const why = fault instanceof Error ? fault.message : String(fault);
    return { by: server.fault === undefined ? "history" : "engine", why };
  } finally {
    server.close();
  }
}

interface Opened {
  readonly store: HistoryStore;
  readonly server: LocalServer;
}

/** Empty stores over copies of a world. */
function storeOpener(): (template: World) => Promise<Opened> {
  // It takes its `test` and `expect` from what loadSuite has installed.
  const { WorldTestStore } = createRequire(__filename)("../../support/world-test-store") as {
    WorldTestStore: typeof TestStore;
  };
  const { withoutLogins } = createRequire(__filename)("../../support/mssql-setup") as {
    withoutLogins: typeof WithoutLogins;
  };
  let server: LocalServer | undefined;
  let template: World | undefined;
  const setup: StoreSetup = {
    dialect: "mssql",
    missing: {},
    open: () => {
      if (template === undefined) throw new Error("No world to copy");
      const world = template.fork();
      server = new LocalServer(world, bounds);
      const store = new SqlTaskStore(new EngineCaller(server), (call) => call());
      return Promise.resolve(new WorldTestStore(withoutLogins(store), world));
    },
    close: () => Promise.resolve(),
  };
  return async (world) => {
    template = world;
    const store = await openSqlStore(setup);
    if (server === undefined) throw new Error("The store was opened without a server");
    return { store, server };
  };
}
