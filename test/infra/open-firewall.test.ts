import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { runCli } from "../../shared/cli/main";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import type { SimulatedServer } from "../tsql-server/tds/simulated-server";
import { startTaskgateServer } from "../tsql/wire/start-taskgate-server";
import { certificate, fakeAzd, makeProgram, runNode, serveHttps } from "./fake-programs";
import type { Asked } from "./fake-programs";
import { testPosix } from "../support/posix";
import { testWhole } from "../support/whole";

// Goal: `taskgate migrate --open-firewall`, as a process of its own: its token is azd's, it opens exactly its own address,
// migrates, and closes it again, also when the migration fails. The server and Resource Manager are on this machine.
const serverId =
  "/subscriptions/s/resourceGroups/rg-taskgate-dev/providers/Microsoft.Sql/servers/sql-1";
const rulePath = `${serverId}/firewallRules/taskgate-migrate-203-0-113-7?api-version=2023-08-01`;
const root = join(__dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "taskgate-azd-"));
const path = makeProgram(folder, "azd", fakeAzd);

let simulated: SimulatedServer;
let arm: Awaited<ReturnType<typeof serveHttps>>;
let answerOf: (asked: Asked) => { status: number; body?: unknown };
let isOpen = false;

beforeAll(async () => {
  simulated = await startTaskgateServer();
  arm = await serveHttps((asked) => answerOf(asked));
});
afterEach(() => {
  simulated.server.setFault(undefined);
  arm.asked.length = 0;
  isOpen = false;
});
afterAll(async () => {
  await arm.close();
  await simulated.close();
  rmSync(folder, { recursive: true, force: true });
});

const refusals = {
  40615: "Client with IP address '203.0.113.7' is not allowed to access the server.",
  49918: "Cannot process request. Not enough resources to process request.",
  47073: "Connection was denied since Deny Public Network Access is set to Yes.",
} as const;

/** Refuses logins by what `number` says now. */
function refuseWhile(number: () => keyof typeof refusals | null): void {
  simulated.server.setFault((point) => {
    const refused = point.place === "login" ? number() : null;
    if (refused === null) return undefined;
    const text = refusals[refused];
    const message = { number: refused, state: 1, class: 14, text, procedure: "", line: 1 };
    return { kind: "error", error: { message, endsTransaction: false, endsConnection: true } };
  });
}

/** The server is busy at the first login. */
function refuseOnce(): void {
  let refused = 0;
  refuseWhile(() => ((refused += 1) > 1 ? null : 49918));
}

/** Resource Manager as it is. */
function openAndClose({ method }: Asked): { status: number; body?: unknown } {
  isOpen = method === "PUT";
  return isOpen ? { status: 201, body: {} } : { status: 200 };
}

function migrate(...words: string[]): ReturnType<typeof runNode> {
  const program = [
    "-r",
    join(root, "test/support/register-swc.cjs"),
    join(root, "shared/cli/main.ts"),
  ];
  return runNode(
    [...program, "migrate", "--db", simulated.url, "--open-firewall", serverId, ...words],
    {
      env: {
        PATH: path,
        HOME: folder,
        NODE_EXTRA_CA_CERTS: certificate,
        AZURE_TOKEN_CREDENTIALS: "AzureDeveloperCliCredential",
        AZURE_RESOURCE_MANAGER_URL: arm.url,
      },
    },
  );
}

const calls = (): string[] => arm.asked.map(({ method, path: asked }) => `${method} ${asked}`);

describe("migrate --open-firewall", () => {
  testPosix(
    "migrate --open-firewall opens the named address with azd's token, migrates, and closes it again",
    async () => {
      answerOf = openAndClose;
      // The change takes its time.
      let late = 1;
      refuseWhile(() => (isOpen && (late -= 1) < 0 ? null : 40615));
      const ended = await migrate("--json");
      expect({ code: ended.code, error: ended.error }).toMatchObject({ code: 0 });
      expect(JSON.parse(ended.out)).toEqual({ applied: [], isLogicRenewed: false });
      expect(calls()).toEqual([`PUT ${rulePath}`, `DELETE ${rulePath}`]);
      expect(JSON.parse(arm.asked[0]?.body ?? "")).toEqual({
        properties: { startIpAddress: "203.0.113.7", endIpAddress: "203.0.113.7" },
      });
      expect(new Set(arm.asked.map(({ authorization }) => authorization))).toEqual(
        new Set(["Bearer token-of-azd"]),
      );
      const progress = ended.error
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as object);
      expect(progress).toEqual([
        { progress: "Opening the server's firewall for 203.0.113.7 .." },
        { progress: expect.stringContaining("doesn't admit 203.0.113.7 (40615)") },
      ]);
    },
    60_000,
  );

  testPosix(
    "migrate --open-firewall closes it after a migration that fails, and ends with the failure",
    async () => {
      answerOf = openAndClose;
      refuseWhile(() => (isOpen ? 47073 : 40615));
      const ended = await migrate();
      expect(ended.code).toBe(4);
      expect(ended.error).toContain("no public address");
      expect(ended.error).toMatch(/Waiting, \d+ m?s of 10 min/);
      expect(calls()).toEqual([`PUT ${rulePath}`, `DELETE ${rulePath}`]);
    },
    60_000,
  );

  testPosix(
    "migrate --open-firewall says which right is missing, and that the address may be set by hand",
    async () => {
      answerOf = () => ({
        status: 403,
        body: { error: { code: "AuthorizationFailed", message: "The client lacks a right." } },
      });
      refuseWhile(() => 40615);
      const ended = await migrate();
      expect(ended.code).toBe(4);
      expect(ended.error).toMatch(/AuthorizationFailed.*firewallRules\/write.*SQL_CLIENT_IP/);
    },
    60_000,
  );

  testPosix(
    "migrate --open-firewall names the rule that could not be closed, and ends as failed",
    async () => {
      answerOf = (asked) =>
        asked.method === "PUT" ? openAndClose(asked) : { status: 403, body: { error: {} } };
      refuseWhile(() => (isOpen ? null : 40615));
      const ended = await migrate();
      expect(ended.code).toBe(4);
      expect(ended.error).toContain("Delete by hand");
      expect(ended.error).toContain("taskgate-migrate-203-0-113-7");
    },
    60_000,
  );

  test("a terminal gets one line that changes, and none of it is left", async () => {
    refuseOnce();
    const written: string[] = [];
    const errors: string[] = [];
    const code = await runCli({
      words: ["migrate", "--wait", "1m"],
      environment: { TASKGATE_DATABASE_URL: simulated.url },
      folder: "/nowhere",
      output: {
        line: () => undefined,
        error: (text) => void errors.push(text),
        rewrite: (text) => void written.push(text),
        columns: 80,
      },
    });
    expect({ code, errors }).toEqual({ code: 0, errors: [] });
    expect(written).toEqual([expect.stringMatching(/^Waiting, .* of 1 min: .*\(49918\)\.$/), ""]);
  }, 60_000);

  testWhole(
    "a lock in the way is told of behind a refusal that was waited out",
    async () => {
      const lines: string[] = [];
      let isTold: () => void = () => undefined;
      const told = new Promise<void>((resolve) => (isTold = resolve));
      const other = openStore({ url: simulated.url, connectionsMax: 1, random: realRandom, sleep });
      try {
        // The lock of a migration that another process has under way.
        const take =
          "EXEC sp_getapplock @Resource = N'Taskgate.Migrate', @LockMode = 'Exclusive', @LockOwner = 'Transaction';";
        let migrating: Promise<number> = Promise.resolve(1);
        await other.transaction(async (transaction) => {
          await transaction.query(take);
          refuseOnce();
          migrating = runCli({
            words: ["migrate", "--wait", "1m"],
            environment: { TASKGATE_DATABASE_URL: simulated.url },
            folder: "/nowhere",
            output: {
              line: () => undefined,
              error: (text) => {
                lines.push(text);
                if (lines.length === 2) isTold();
              },
              columns: null,
            },
          });
          await Promise.race([told, migrating]);
        });
        expect(await migrating).toBe(0);
      } finally {
        await other.close();
      }
      expect(lines).toEqual([
        expect.stringMatching(/^Waiting, .* of 1 min: .*\(49918\)\.$/),
        expect.stringMatching(/^Still migrating after \d+ s\. Another migration, .* in its way\.$/),
      ]);
    },
    60_000,
  );
});
