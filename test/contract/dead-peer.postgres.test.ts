import { describe, expect, test } from "@jest/globals";
import { sleep } from "../../shared/platform/real-clock";
import { beginText, namesLinux } from "../../shared/store/postgres/postgres-transaction";
import { useContention } from "../support/use-contention";

/* A transaction whose client is gone is ended by its server: what the server is told for that. */

const scene = useContention();

test("a transaction bounds its client's silence and looks for a connection that is dead", async () => {
  const store = scene.openStore(1);
  const read = `select name, setting from pg_settings
     where name like 'tcp%' or name = 'idle_in_transaction_session_timeout' order by name`;
  const rows = await store.transaction((transaction) => transaction.query(read));
  expect(rows).toEqual([
    { name: "idle_in_transaction_session_timeout", setting: "30000" },
    { name: "tcp_keepalives_count", setting: "3" },
    { name: "tcp_keepalives_idle", setting: "15" },
    { name: "tcp_keepalives_interval", setting: "5" },
    // The test's server runs on Linux, which alone has it.
    { name: "tcp_user_timeout", setting: process.platform === "linux" ? "30000" : "0" },
  ]);
});

describe("a body that is silent for longer than its transaction may be", () => {
  const silentFor = async (then: "returns" | "sends" | "throws"): Promise<unknown> => {
    const store = scene.openStore(1);
    const ended = store.transaction(
      async (transaction) => {
        await transaction.query("select 1");
        await sleep(500);
        if (then === "throws") throw new Error("the partner's answer is no");
        if (then === "sends") await transaction.query("select 2");
      },
      { idleMs: 100 },
    );
    const error: unknown = await ended.catch((thrown: unknown) => thrown);
    // The connection is gone, and the next call has another one.
    expect((await store.listDefinitions({})).definitions).toEqual(expect.anything());
    return error;
  };

  test.each(["sends", "returns"] as const)(
    "a body hears that the silence ended its transaction when it %s, and not of an outage",
    async (then) => {
      expect(await silentFor(then)).toMatchObject({
        code: "TASKGATE_STORE_CONTEXT",
        message: expect.stringMatching(
          /^The transaction's body sent no statement for 100 ms, so the database ended/,
        ),
      });
    },
  );

  test("a silent body's own error counts", async () => {
    expect(await silentFor("throws")).toEqual(new Error("the partner's answer is no"));
  });
});

test("a body's first statement may choose another isolation level", async () => {
  const store = scene.openStore(1);
  const level = await store.transaction(async (transaction) => {
    await transaction.query("set transaction isolation level repeatable read, read only");
    return transaction.query("select current_setting('transaction_isolation') as level");
  });
  expect(level).toEqual([{ level: "repeatable read" }]);
});

test.each([
  ["PostgreSQL 18.4 on x86_64-pc-linux-gnu, compiled by gcc", true],
  ["PostgreSQL 16.9 on aarch64-unknown-linux-musl, compiled by gcc", true],
  ["PostgreSQL 18.4 on aarch64-apple-darwin24.6.0, compiled by clang", false],
  ["PostgreSQL 18.4 on x86_64-w64-mingw32, compiled by gcc", false],
  ["PostgreSQL 17.5 on x86_64-windows, compiled by msvc", false],
])("%s is told of a setting that only Linux has: %p", (version, isOnLinux) => {
  // A server elsewhere would log its refusal in each transaction.
  expect(beginText(namesLinux(version)).includes("tcp_user_timeout")).toBe(isOnLinux);
});
