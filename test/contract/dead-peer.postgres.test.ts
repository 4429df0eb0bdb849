import { expect, test } from "@jest/globals";
import { beginText } from "../../shared/store/postgres/postgres-transaction";
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

test("the one setting that only Linux has is made on a server on Linux alone, as others log its refusal each time", () => {
  const settings = beginText().split("; ");
  expect(settings.filter((text) => text.includes("tcp_user_timeout"))).toEqual([
    expect.stringMatching(/^select .* where pg_catalog\.version\(\) like '%linux%'$/),
  ]);
});
