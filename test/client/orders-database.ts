import { Client, Pool } from "pg";
import { createClient } from "../../shared/client/create-client";
import type { Client as TaskgateClient } from "../../shared/client/create-client";
import { defineTask } from "../../shared/worker/define/define-task";
import { loginPassword, urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";

/** A kind that nothing runs here: tests look at its tasks. */
export const bill = defineTask<{ order: number }>({
  name: "bill",
  limit: 4,
  run: () => Promise.resolve(null),
});

/** The same, one at a time per customer. */
export const ship = defineTask<{ customer: string }>({
  name: "ship",
  limit: 4,
  group: { by: "customer" },
  run: () => Promise.resolve(null),
});

/** A login that may write orders and enqueue, and nothing else: what docs/guides/enqueue-from-anywhere.md grants. */
const shopLogin = "taskgate_test_shop";
const shopSql = `
  create table orders (id int primary key);
  grant all on orders to ${shopLogin};
  grant usage on schema taskgate to ${shopLogin};
  grant execute on function taskgate.enqueue_tasks to ${shopLogin};`;

/** A database with a caller's own table beside Taskgate's, a client of Taskgate, and connections of the shop's login. */
export interface OrdersDatabase {
  /** As the owner. */
  readonly url: string;
  /** As the shop. */
  readonly shopUrl: string;
  readonly owner: Client;
  readonly shop: Pool;
  readonly client: TaskgateClient;
  /** Orders and tasks that are there for others to see. */
  count(): Promise<{ orders: number; tasks: number }>;
  close(): Promise<void>;
}

/** Opens a fresh one; the definitions of `bill` and `ship` are registered. */
export async function openOrders(connections = 10): Promise<OrdersDatabase> {
  const { url, drop } = await createTestDatabase();
  const owner = new Client({ connectionString: url });
  await owner.connect();
  await makeShop(owner);
  const changed = new URL(url);
  changed.username = shopLogin;
  changed.password = loginPassword;
  const shopUrl = changed.toString();
  const shop = new Pool({ connectionString: shopUrl, max: connections });
  shop.on("error", () => undefined);
  const client = createClient({ store: urlAs(url, "worker"), tasks: [bill, ship] });
  await client.watermark.read(bill, { watermark: "none" });
  await client.watermark.read(ship, { watermark: "none" });
  return {
    url,
    shopUrl,
    owner,
    shop,
    client,
    count: async () => {
      const { rows } = await owner.query<{ orders: number; tasks: number }>(
        "select (select count(*)::int from orders) as orders, (select count(*)::int from taskgate.task) as tasks",
      );
      return rows[0] ?? { orders: -1, tasks: -1 };
    },
    close: async () => {
      await client.close();
      await shop.end();
      await owner.end();
      await drop();
    },
  };
}

/** Roles belong to the whole server: another test file may make this one at the same moment. */
async function makeShop(owner: Client): Promise<void> {
  await owner.query(`do $$ begin
    create role ${shopLogin} login password '${loginPassword}';
  exception when duplicate_object or unique_violation then null; end $$`);
  await owner.query(shopSql);
}

/** A connection of the shop's for `body`, given back or, when `body` left a transaction open, closed. */
export async function asShop<Result>(
  { shop }: OrdersDatabase,
  body: (client: Client) => Promise<Result>,
): Promise<Result> {
  const connection = await shop.connect();
  try {
    return await body(connection);
  } finally {
    connection.release(connection.getTransactionStatus() !== "I");
  }
}
