import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import "../../support/node-errors";
import { withPatience } from "../../../shared/store/mssql/mssql-patience";
import { migrateStore } from "../../../shared/store/open-store";
import type { Patience, Wait } from "../../../shared/store/open-store";
import type { FaultSource } from "../../tsql-server/tds/faults";
import type { SimulatedServer } from "../../tsql-server/tds/simulated-server";
import { startTaskgateServer } from "./start-taskgate-server";

// Goal: a migration that comes too early waits for the server, and one that can't come at all says why. Method: a server
// that answers the login with each error that Azure SQL answers, then lets it through; the driver is the real one.

/** Those that the driver itself repeats three times more. */
const repeatedByDriver = new Set([4060, 10928, 10929, 40197, 40501, 40613]);
const texts: Readonly<Record<number, string>> = {
  40615:
    "Cannot open server 'sql-1' requested by the login. Client with IP address '203.0.113.7' is not allowed to access the server. To enable access, use the Azure Management Portal or run sp_set_firewall_rule on the master database to create a firewall rule for this IP address or address range. It may take up to five minutes for this change to take effect.",
  47073:
    "Reason: An instance-specific error occurred while establishing a connection to SQL Server. Connection was denied since Deny Public Network Access is set to Yes.",
  18456: "Login failed for user '<token-identified principal>'.",
};

let simulated: SimulatedServer;
beforeAll(async () => {
  simulated = await startTaskgateServer();
});
afterEach(() => {
  simulated.server.setFault(undefined);
});
afterAll(() => simulated.close());

/** Refuses the first `times` logins, or all until `isOver`. */
function refuse(number: number, times: number, isOver = (): boolean => false): FaultSource {
  let logins = 0;
  return (point) => {
    if (point.place !== "login" || isOver()) return undefined;
    logins += 1;
    if (logins > times) return undefined;
    const message = {
      number,
      state: 1,
      class: 14,
      text: texts[number] ?? `The text of ${String(number)}`,
      procedure: "",
      line: 1,
    };
    return { kind: "error", error: { message, endsTransaction: false, endsConnection: true } };
  };
}

/** Waits in no time, by a clock that goes on with each pause. */
function patient(waitMs: number, admit?: Patience["admit"]) {
  const waits: Wait[] = [];
  let nowMs = 0;
  const patience: Patience = {
    waitMs,
    monotonicMs: () => nowMs,
    sleep: (ms) => {
      nowMs += ms;
      return Promise.resolve();
    },
    onWait: (wait) => void waits.push(wait),
    ...(admit === undefined ? {} : { admit }),
  };
  return { waits, patience };
}

const migrateWith = (patience?: Patience) =>
  migrateStore({ url: simulated.url }, patience === undefined ? {} : { patience });
const upToDate = { applied: [], isLogicRenewed: false };
const passing = [40613, 4060, 40197, 40501, 49918, 49919, 49920, 10928, 10929, 40615];

describe("migrate with --wait", () => {
  test.each(passing)(
    "migrate with --wait waits while the login is refused by %i, and then migrates",
    async (number) => {
      simulated.server.setFault(refuse(number, repeatedByDriver.has(number) ? 4 : 1));
      const { waits, patience } = patient(60_000);
      expect(await migrateWith(patience)).toEqual(upToDate);
      expect(waits).toMatchObject([{ number, waitedMs: 0, waitMs: 60_000, pauseMs: 1_000 }]);
    },
  );

  test("migrate with --wait pauses longer each time, 10 s at most, and gives up in time with what it waited for", async () => {
    simulated.server.setFault(refuse(49918, 1_000));
    const { waits, patience } = patient(40_000);
    await expect(migrateWith(patience)).rejects.toMatchObject({
      code: "TASKGATE_STORE_UNAVAILABLE",
      message: expect.stringMatching(/\(49918\).*no room.*Waited 35 s for it\./),
    });
    expect(waits.map(({ pauseMs }) => pauseMs)).toEqual([
      1_000, 2_000, 4_000, 8_000, 10_000, 10_000,
    ]);
  });

  test("a refused Entra token is repeated, a refused password isn't", async () => {
    const body = () => migrateWith();
    for (const isIdentity of [true, false]) {
      simulated.server.setFault(refuse(18456, 2));
      const { waits, patience } = patient(60_000);
      const answer = await withPatience({ patience, isIdentity }, body).catch(
        (error: unknown) => error,
      );
      if (isIdentity) expect(answer).toEqual(upToDate);
      else expect(answer).toMatchObject({ message: expect.stringContaining("18456") });
      expect(waits.map(({ number }) => number)).toEqual(isIdentity ? [18456, 18456] : []);
    }
  });

  test("a private server is no matter of waiting: both documented ways are told at once", async () => {
    simulated.server.setFault(refuse(47073, 1_000));
    const { waits, patience } = patient(60_000);
    await expect(migrateWith(patience)).rejects.toMatchObject({
      code: "TASKGATE_STORE_UNAVAILABLE",
      message: expect.stringMatching(/47073.*inside the server's virtual network.*SQL_CLIENT_IP/),
    });
    expect(waits).toEqual([]);
  });

  test("a firewall is opened for the address that the server named, and its change is waited for", async () => {
    const admitted: string[] = [];
    let left = 3;
    simulated.server.setFault(refuse(40615, 1_000, () => admitted.length > 0 && (left -= 1) < 0));
    const { waits, patience } = patient(600_000, (address) => {
      admitted.push(address);
      return Promise.resolve();
    });
    expect(await migrateWith(patience)).toEqual(upToDate);
    expect(new Set(admitted)).toEqual(new Set(["203.0.113.7"]));
    expect(waits.length).toBeGreaterThanOrEqual(3);
  });

  test("a firewall that can't be opened ends the wait with the reason", async () => {
    simulated.server.setFault(refuse(40615, 1_000));
    const { patience } = patient(600_000, () => Promise.reject(new Error("no right to do so")));
    await expect(migrateWith(patience)).rejects.toThrow("no right to do so");
  });
});

describe("migrate without --wait", () => {
  test("migrate without --wait names the address and what to set when the firewall refuses", async () => {
    simulated.server.setFault(refuse(40615, 1_000));
    await expect(migrateWith()).rejects.toThrow(
      /doesn't admit 203\.0\.113\.7\..*--open-firewall RESOURCE_ID.*azd env set SQL_CLIENT_IP 203\.0\.113\.7/,
    );
  });

  test("migrate without --wait names --wait for what passes by itself", async () => {
    simulated.server.setFault(refuse(49920, 1_000));
    await expect(migrateWith()).rejects.toThrow("`npx taskgate migrate --wait 10m` repeats that");
  });
});
