import { connect } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { DriverBenches, failureOf, until } from "./driver-bench";
import type { DriverBench } from "./driver-bench";
import { packetTypes } from "./packets";
import { RawClient } from "./raw-client";
import { answerRows, intColumn, ScriptedEngine } from "./scripted-engine";
import type { Script } from "./scripted-engine";
import { TdsServer } from "./server";

/* Who may reach the endpoint, what it refuses, and how it ends. */

const benches = new DriverBenches();
afterEach(() => benches.close());

const one: Script = ({ events }) => {
  answerRows(events, [intColumn("A")], [[1]]);
  return { returnStatus: 0 };
};

describe("the server", () => {
  test.each(["0.0.0.0", "::", "192.168.1.1", "example.com", ""])(
    "the server refuses to listen on %p: others could reach it",
    async (host) => {
      await expect(TdsServer.start({ engine: new ScriptedEngine(), host })).rejects.toThrow(
        "listens on this machine only",
      );
    },
  );

  test("the server refuses encryption without a certificate", async () => {
    const options = { engine: new ScriptedEngine(), encryption: "offered" } as const;
    await expect(TdsServer.start(options)).rejects.toThrow("credentials");
  });

  test("the server closes a connection that doesn't speak TDS, and says so at its end", async () => {
    const server = await TdsServer.start({ engine: new ScriptedEngine() });
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(Buffer.from([18, 1, 0, 3, 0, 0, 0, 0]));
    await new Promise((resolve) => socket.on("close", resolve));
    await expect(server.close()).rejects.toThrow("A packet says it has 3 bytes");
  });

  test("the server closes a connection whose packets are larger than the login has agreed on", async () => {
    const server = await TdsServer.start({ engine: new ScriptedEngine() });
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(Buffer.from([packetTypes.login, 1, 0x10, 1, 0, 0, 0, 0]));
    await new Promise((resolve) => socket.on("close", resolve));
    await expect(server.close()).rejects.toThrow("A packet has 4097 bytes, 4096 are agreed on");
  });

  test("the server closes its connections with it", async () => {
    const bench = await benches.serve(one);
    const pool = await bench.pool();
    await pool.request().query("SELECT");
    await bench.server.close();
    await until(() => bench.engine.sessions.every((session) => session.isClosed));
  });

  test("the server tells what the engine threw as an error, with the call that fails, and at its end", async () => {
    const bench = await benches.serve(() => {
      throw new Error("no such table in the engine");
    });
    const pool = await bench.pool();
    expect(await failureOf(pool.request().query("SELECT"))).toMatchObject({
      number: 8_630,
      message: "The simulation failed: no such table in the engine",
    });
    await expect(bench.server.close()).rejects.toThrow("no such table in the engine");
  });

  test("the server refuses an engine that fails without an error, or succeeds with one", async () => {
    const bench = await benches.serve(() => ({ isFailed: true }));
    const pool = await bench.pool();
    expect((await failureOf(pool.request().query("SELECT")))["message"]).toContain("told no error");
    bench.server.takeFailures();
  });

  test("the server refuses a statement whose row set doesn't end", async () => {
    const bench = await benches.serve(({ events }) => {
      events.columns([intColumn("A")]);
      return { returnStatus: 0 };
    });
    const pool = await bench.pool();
    expect((await failureOf(pool.request().query("SELECT")))["message"]).toContain(
      "ends inside a row set",
    );
    bench.server.takeFailures();
  });

  test("the server serves fifty connections at once", async () => {
    // No client is answered before all are there.
    let waiting = 0;
    let open = (): void => undefined;
    const all = new Promise<void>((resolve) => (open = resolve));
    const bench = await benches.serve(async ({ events }) => {
      waiting += 1;
      if (waiting === 50) open();
      await all;
      answerRows(events, [intColumn("A")], [[waiting]]);
      return { returnStatus: 0 };
    });
    const pool = await bench.pool({ pool: { max: 50 } });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => pool.request().query<{ A: number }>("SELECT")),
    );
    expect(answers.every(({ recordset }) => recordset[0]?.A === 50)).toBe(true);
    expect(bench.server.connectionCount).toBe(51);
  });
});

/** DONE with these bits and no count, and nothing else. */
function doneOnly(status: number): Buffer {
  const token = Buffer.alloc(13);
  token.writeUInt8(0xfd);
  token.writeUInt16LE(status, 1);
  return token;
}

describe("what the driver never sends", () => {
  const attention = 32;
  const ignore = 2;

  async function open(script?: Script): Promise<{ bench: DriverBench; client: RawClient }> {
    const bench = await benches.serve(script);
    return { bench, client: await RawClient.open(bench.server.port) };
  }

  test("an attention that finds its answer sent is confirmed, and the next request runs", async () => {
    const { client } = await open();
    client.batch("SELECT 2");
    expect(await client.answer()).toEqual(doneOnly(0));
    client.send(packetTypes.attention, Buffer.alloc(0));
    expect(await client.answer()).toEqual(doneOnly(attention));
    client.batch("SELECT 3");
    expect(await client.answer()).toEqual(doneOnly(0));
    client.close();
  });

  test("an attention during a request ends its answer with an error, then comes the confirmation", async () => {
    const { client } = await open(({ cancelled }) => cancelled.then(() => ({})));
    client.batch("wait");
    client.send(packetTypes.attention, Buffer.alloc(0));
    expect(await client.answer()).toEqual(doneOnly(2));
    expect(await client.answer()).toEqual(doneOnly(attention));
    client.close();
  });

  test("a message that the client has given up is answered, but not run", async () => {
    const { bench, client } = await open();
    client.batch("DELETE", 0n, ignore);
    expect(await client.answer()).toEqual(doneOnly(0));
    expect(bench.engine.requests).toEqual([]);
    client.close();
  });

  test.each([
    {
      title: "a request while another one runs",
      send: (client: RawClient) => {
        client.batch("wait");
        client.batch("SELECT 2");
      },
      text: "while another one runs",
    },
    {
      title: "a transaction that the server doesn't know",
      send: (client: RawClient) => {
        client.batch("SELECT 2", 7n);
      },
      text: "in transaction 7, the server in 0",
    },
    {
      title: "a bulk load",
      send: (client: RawClient) => {
        client.send(7, Buffer.alloc(8));
      },
      text: "Messages of type 7 aren't simulated",
    },
  ])("$title is refused, and the connection closed", async ({ send, text }) => {
    const { bench, client } = await open(({ text: sql, cancelled }) =>
      sql === "wait" ? cancelled.then(() => ({})) : {},
    );
    send(client);
    const answer = await client.answer();
    expect(answer?.includes(Buffer.from(text, "utf16le"))).toBe(true);
    expect(await client.answer()).toBeUndefined();
    expect(bench.server.takeFailures()[0]?.message).toContain(text);
  });
});
