import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { runCli } from "../../../shared/cli/main";
import { findFreePort } from "../../../shared/local/free-port";

/* A database that takes connections and never says a word. */
const sockets = new Set<Socket>();
let server: Server;

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

async function run(
  words: readonly string[],
  address = "postgres://u:secret-1@",
  port = (server.address() as AddressInfo).port,
) {
  const db = `${address}127.0.0.1:${String(port)}/d`;
  const errors: { text: string; atMs: number }[] = [];
  const begun = performance.now();
  let hangs = 0;
  const code = await runCli({
    words: [...words, "--db", db],
    environment: {},
    folder: "/",
    output: {
      line: () => undefined,
      error: (text) => errors.push({ text, atMs: performance.now() - begun }),
      columns: null,
    },
    onHang: () => void (hangs += 1),
  });
  return { code, errors, tookMs: performance.now() - begun, hangs };
}

describe("a command before a silent database", () => {
  test("a command before a silent database says so after 3 s and ends with exit code 4 after --timeout, on either", async () => {
    const addresses = ["postgres://u:secret-1@", "mssql://u:secret-1@"];
    const runs = await Promise.all(
      addresses.map((address) => run(["status", "--timeout", "4s"], address)),
    );
    for (const { code, errors, tookMs, hangs } of runs) {
      expect(code).toBe(4);
      expect(errors.map(({ text }) => text)).toEqual([
        "taskgate: The database hasn't answered for 3 s: still trying, for 4 s in all (--timeout).",
        "taskgate: The database doesn't answer: gave up after 4 s",
      ]);
      expect(errors[0]?.atMs).toBeGreaterThan(2_900);
      expect(errors[0]?.atMs).toBeLessThan(3_900);
      expect(tookMs).toBeLessThan(5_000);
      expect(hangs).toBe(1);
    }
  });

  test("a command tells what the attempts met where they were answered", async () => {
    const port = await findFreePort();
    const refused = `connect ECONNREFUSED 127.0.0.1:${String(port)}`;
    const { code, errors } = await run(["status", "--timeout", "1s"], "postgres://u:p@", port);
    expect(code).toBe(4);
    expect(errors.map(({ text }) => text)).toEqual([
      `taskgate: PostgreSQL can't be reached: ${refused}: gave up after 1 s`,
    ]);
  });

  test("a command tries for as long as it says where the attempts are answered, and tells that first", async () => {
    const port = await findFreePort();
    const refused = `PostgreSQL can't be reached: connect ECONNREFUSED 127.0.0.1:${String(port)}`;
    const words = ["status", "--timeout", "7s"];
    const { code, errors, tookMs, hangs } = await run(words, "postgres://u:p@", port);
    expect(code).toBe(4);
    expect(errors.map(({ text }) => text)).toEqual([
      `taskgate: ${refused}: still trying, for 7 s in all (--timeout).`,
      `taskgate: ${refused}: gave up after 7 s`,
    ]);
    expect(tookMs).toBeGreaterThan(6_900);
    expect(tookMs).toBeLessThan(8_000);
    expect(hangs).toBe(1);
  }, 20_000);

  test("a command says of a change that it may still happen, and with --json one line only", async () => {
    const { code, errors } = await run(["pause", "demo", "--timeout", "300ms", "--json"]);
    expect(code).toBe(4);
    expect(errors).toHaveLength(1);
    expect(JSON.parse(errors[0]?.text ?? "")).toMatchObject({
      error: { code: "TASKGATE_STORE_UNCERTAIN" },
    });
    expect(errors[0]?.text).toContain("may still happen");
    expect(errors[0]?.text).not.toContain("secret-1");
  });

  test("doctor waits once, not for each of its checks", async () => {
    const { tookMs } = await run(["doctor", "--timeout", "400ms"]);
    expect(tookMs).toBeLessThan(2_000);
  });

  test.each(["0s", "15", "25h", "soon", "-1s"])("--timeout %s is refused", async (text) => {
    const { code, errors, tookMs } = await run(["status", `--timeout=${text}`]);
    expect(code).toBe(2);
    expect(errors[0]?.text).toMatch(/--timeout.*such as 500ms, 90s, 10m or 2h/);
    expect(tookMs).toBeLessThan(1_000);
  });
});
