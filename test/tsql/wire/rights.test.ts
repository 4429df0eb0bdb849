import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
// A reset connection must look here as it does outside jest.
import "../../support/node-errors";
import { realRandom } from "../../../shared/platform/real-clock";
import type { TaskStore } from "../../../shared/ports/task-store";
import { openStore } from "../../../shared/store/open-store";
import { define, enqueue, startWorker } from "../../support/builders";
import { BatchConnection } from "../../verify/batch-connection";
import type { SimulatedServer } from "../../tsql-server/tds/simulated-server";
import { startTaskgateServer } from "./start-taskgate-server";

/* Who signs in to the simulated server, and what they may do there: the shipped roles, through the unchanged driver. */

const worker = { user: "wendy", password: "w1" };
const operator = { user: "oscar", password: "o1" };
const nobody = { user: "norah", password: "n1" };

const setUp = `CREATE LOGIN wendy WITH PASSWORD = N'w1';
CREATE LOGIN norah WITH PASSWORD = N'n1';
CREATE USER wendy FOR LOGIN wendy;
CREATE USER oscar WITH PASSWORD = 'o1';
ALTER ROLE TaskgateWorker ADD MEMBER wendy;
ALTER ROLE TaskgateOperator ADD MEMBER oscar;`;

let simulated: SimulatedServer;
const stores: TaskStore[] = [];
const connections: BatchConnection[] = [];

beforeAll(async () => {
  simulated = await startTaskgateServer({ setUp });
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await Promise.all(connections.splice(0).map((connection) => connection.close()));
  simulated.reset();
});
afterAll(() => simulated.close());

function open(login: { user: string; password: string }): TaskStore {
  const store = openStore({
    url: simulated.urlOf(login),
    connectionsMax: 2,
    random: realRandom,
    sleep: () => Promise.resolve(),
  });
  stores.push(store);
  return store;
}

async function connect(url: string): Promise<BatchConnection> {
  const connection = await BatchConnection.open(url, "test");
  connections.push(connection);
  return connection;
}

describe("a connection acts as the user of its login", () => {
  test("the owner is dbo, a login is its user, a contained user is itself", async () => {
    const asked = "SELECT USER_NAME() AS u, SUSER_SNAME() AS l;";
    const who = async (url: string): Promise<unknown> =>
      (await (await connect(url)).must(asked)).rows;
    expect(await who(simulated.url)).toEqual([["dbo", "u"]]);
    expect(await who(simulated.urlOf(worker))).toEqual([["wendy", "wendy"]]);
    expect(await who(simulated.urlOf(operator))).toEqual([["oscar", "oscar"]]);
  });

  test("another password, another name and a login without a user are refused", async () => {
    const failed = /Login failed for user/;
    for (const login of [
      { ...worker, password: "x" },
      { user: "x", password: "w1" },
    ])
      await expect(connect(simulated.urlOf(login))).rejects.toThrow(failed);
    await expect(connect(simulated.urlOf(nobody))).rejects.toThrow(
      /Cannot open database "Taskgate" requested by the login|Login failed/,
    );
  });

  test("logins are made by T-SQL over the owner's connection, and gone after a reset of the server", async () => {
    const owner = await connect(simulated.url);
    await owner.must(
      "CREATE LOGIN late WITH PASSWORD = 'l1'; CREATE USER late FOR LOGIN late; ALTER ROLE TaskgateWorker ADD MEMBER late;",
    );
    const late = simulated.urlOf({ user: "late", password: "l1" });
    expect((await (await connect(late)).run("EXEC Taskgate.ListDefinitions;")).errors).toEqual([]);
    simulated.reset();
    await expect(connect(late)).rejects.toThrow("Login failed for user 'late'");
  });
});

describe("the shipped roles", () => {
  test("a worker's store enqueues, claims and completes", async () => {
    const store = open(worker);
    const name = await define(store);
    await enqueue(store, name, 3);
    const one = await startWorker(store, name);
    const claimed = await one.claim(1);
    expect(claimed.length).toBeGreaterThan(0);
    expect((await one.complete(claimed)).refused).toEqual([]);
    expect((await one.finish()).status).toBe("ended");
  });

  test("a worker is refused tables, inner procedures and operators' procedures, in the server's words", async () => {
    const connection = await connect(simulated.urlOf(worker));
    const { errors, messages } = await connection.run(
      `SELECT COUNT(*) AS n FROM Taskgate.Task; EXEC Taskgate._LockShared @Shared = N'1'; EXEC Taskgate.CheckInvariants;
       DELETE FROM Taskgate.SchemaVersion; SELECT COUNT(*) AS n FROM Taskgate.SchemaVersion;`,
    );
    expect(errors).toEqual([229, 229, 229, 229]);
    expect(messages[0]).toBe(
      "The SELECT permission was denied on the object 'Task', database 'Simulated', schema 'Taskgate'.",
    );
    expect(messages[1]).toMatch(/^The EXECUTE permission was denied on the object '_LockShared', /);
  });

  test("an operator sees what a worker may not: CheckInvariants", async () => {
    const connection = await connect(simulated.urlOf(operator));
    expect((await connection.run("EXEC Taskgate.CheckInvariants;")).errors).toEqual([]);
  });
});
