import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import { at, enqueue, startWorker } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: tasks are found by HTTP and on the command line by the same filters, and an answer says how far it looked.
const name = "orders";
const many = 12_000;
let api: ApiSetup;
let ids: TaskId[];
let big: TaskId[];

beforeAll(async () => {
  api = await setupApi();
  const { store } = api;
  await api.register(name, { limit: 8, prefetchMax: 0 });
  ids = await enqueue(
    store,
    name,
    [1, 2, 3, 4].map((id) => ({
      dedupeKey: `order-${String(id)}`,
      group: `customer-${String(id)}`,
      payload: JSON.stringify({ customer: { id, name: id === 2 ? "Ada = b" : "Bob" } }),
      priority: id,
    })),
  );
  const worker = await startWorker(store, name, { want: 2 });
  const [first, second] = await worker.claim(2);
  if (first === undefined || second === undefined) throw new Error("no task was claimed");
  await worker.complete([first]);
  await worker.fail([second], { as: "dead" });
  await worker.finish();
  await api.register("big");
  const slices = [many / 2, many / 2].map((length, slice) =>
    Array.from({ length }, (_, index) => ({ payload: `{"n":${String(slice * length + index)}}` })),
  );
  big = [];
  for (const slice of slices) big.push(...(await enqueue(store, "big", slice)));
}, 60_000);
afterAll(() => api.close());

interface Answer {
  tasks: { task: string; state: string }[];
  more: boolean;
  cursor: string | null;
  lookedAt: number;
  stoppedAt: { state: string; task: string | null; at: string | null } | null;
}

async function ask(query: Record<string, string>, definition = name): Promise<Answer> {
  const { status, body } = await api.call({
    route: "api-tasks",
    params: { name: definition },
    query,
  });
  expect([status, body]).toEqual([200, expect.anything()]);
  return body as Answer;
}

const idsOf = ({ tasks }: Answer): string[] => tasks.map(({ task }) => task);

describe("GET tasks with filters", () => {
  test("the route GET tasks looks in all states unless some are named", async () => {
    const all = await ask({ keyPrefix: "order-" });
    expect(all.tasks.map(({ state }) => state)).toEqual(["ready", "ready", "done", "dead"]);
    expect(all).toMatchObject({ more: false, cursor: null, lookedAt: 4, stoppedAt: null });
    const some = await ask({ keyPrefix: "order-", state: "dead,done" });
    expect(some.tasks.map(({ state }) => state)).toEqual(["dead", "done"]);
  });

  test("the route GET tasks finds by key, by group, and by a value in the payload that may have an equals sign", async () => {
    expect(idsOf(await ask({ key: "order-3" }))).toEqual([ids[2]]);
    expect(idsOf(await ask({ group: "customer-2" }))).toEqual([ids[1]]);
    expect(idsOf(await ask({ where: "customer.id=4" }))).toEqual([ids[3]]);
    expect(idsOf(await ask({ where: "customer.name=Ada = b" }))).toEqual([ids[1]]);
    expect(idsOf(await ask({ where: "customer.name=Ada" }))).toEqual([]);
  });

  test("the route GET tasks finds by times, in the states that have them", async () => {
    const since = "2020-01-01T00:00:00Z";
    expect(idsOf(await ask({ endedSince: since }))).toEqual([ids[0], ids[1]]);
    expect(idsOf(await ask({ before: since }))).toEqual([]);
    expect(idsOf(await ask({ since, state: "ready" }))).toEqual([ids[2], ids[3]]);
  });

  test("the route GET tasks looks at 5,000 tasks, says where it stopped, and goes on from there", async () => {
    const query = { where: `n=${String(many - 1)}` };
    const first = await ask(query, "big");
    expect(first).toMatchObject({
      tasks: [],
      more: true,
      lookedAt: 5_000,
      stoppedAt: { state: "ready", task: big[4_999], at: null },
    });
    const second = await ask({ ...query, cursor: first.cursor ?? "" }, "big");
    expect(second).toMatchObject({ tasks: [], lookedAt: 5_000 });
    const third = await ask({ ...query, cursor: second.cursor ?? "" }, "big");
    expect(idsOf(third)).toEqual([big.at(-1)]);
    expect(third).toMatchObject({ more: false, cursor: null, lookedAt: 2_000, stoppedAt: null });
  });

  test.each([
    [{ where: "customer.id" }, "where"],
    [{ where: "=4" }, "where"],
    [{ where: `a=${"x".repeat(201)}` }, "where"],
    [{ key: "" }, "key"],
    [{ batch: "x" }, "batch"],
    [{ state: "ready,reday" }, "state"],
    [{ since: "yesterday" }, "since"],
  ])("%j is refused, naming the parameter", async (query: Record<string, string>, field) => {
    const { status, body } = await api.call({ route: "api-tasks", params: { name }, query });
    expect([status, body]).toMatchObject([400, { problems: [{ field }] }]);
  });

  test.each(["running", "prefetched"])(
    "the state %s, which lists show, is refused over HTTP and on the command line with the word that asks for it",
    async (state) => {
      const { body } = await api.call({ route: "api-tasks", params: { name }, query: { state } });
      const expected = expect.stringContaining("running, prefetched and lost tasks are claimed");
      expect(body).toMatchObject({ problems: [{ field: "state", expected }] });
      for (const words of [
        ["tasks", name],
        ["cancel", name, "--all"],
      ]) {
        const { code, out } = await api.taskgate(...words, "--state", state);
        expect([code, out]).toEqual([2, expected]);
      }
    },
  );

  test("a cursor that was made by hand is refused, and none is taken by another filter", async () => {
    const { cursor } = await ask({ keyPrefix: "order-", max: "1" });
    const call = (query: Record<string, string>) =>
      api.call({ route: "api-tasks", params: { name }, query });
    const bytes = Buffer.from(cursor ?? "", "base64url");
    const text = bytes.subarray(10).toString();
    expect(text).toMatch(/^ready /);
    const forged = (place: string): string =>
      Buffer.concat([
        bytes.subarray(0, 9),
        Buffer.from([place.length]),
        Buffer.from(place),
      ]).toString("base64url");
    for (const place of ["", "nothing", "ready x", "gone [1]", "done ready"]) {
      const { status } = await call({ keyPrefix: "order-", max: "1", cursor: forged(place) });
      expect([place, status]).toEqual([place, place === "" ? 200 : 400]);
    }
    const { status } = await call({ keyPrefix: "order", max: "1", cursor: cursor ?? "" });
    expect(status).toBe(400);
  });
});

describe("taskgate tasks with filters", () => {
  test("the command tasks shows the tasks that it found, with their states", async () => {
    const { code, out } = await api.taskgate("tasks", name, "--key-prefix", "order-");
    expect(code).toBe(0);
    expect(out.split("\n")[0]).toMatch(/TASK +KIND +STATE/);
    for (const id of ids) expect(out).toMatch(new RegExp(`^ *${id} `, "m"));
  });

  test("the command tasks finds by each filter", async () => {
    const shown = async (...words: string[]): Promise<string[]> => {
      const { code, out } = await api.taskgate("tasks", name, "--json", ...words);
      expect(code).toBe(0);
      return (JSON.parse(out) as Answer).tasks.map(({ task }) => task);
    };
    expect(await shown("--key", "order-4")).toEqual([ids[3]]);
    expect(await shown("--group", "customer-3")).toEqual([ids[2]]);
    expect(await shown("--where", "customer.id=1")).toEqual([ids[0]]);
    expect(await shown("--ended-since", "1h")).toEqual([ids[0], ids[1]]);
    expect(await shown("--since", "1h", "--state", "ready")).toEqual([ids[2], ids[3]]);
    expect(await shown("--before", "2020-01-01T00:00:00Z")).toEqual([]);
    expect(await shown("--ended-before", "2020-01-01T00:00:00Z")).toEqual([]);
    expect(await shown("--batch", "1")).toEqual([]);
    expect(await shown("-s", "dead", "-s", "done")).toEqual([ids[1], ids[0]]);
  });

  test("the command tasks says where it stopped, and --all looks on to the end", async () => {
    const where = `n=${String(many - 1)}`;
    const some = await api.taskgate("tasks", "big", "--where", where);
    expect(some.out).toBe(
      `No such task of big was found.\n\nLooked at 5000 tasks; stopped in ready, to task ${at(big, 4_999)}. There may be more: --all goes on, up to --max tasks.`,
    );
    const all = await api.taskgate("tasks", "big", "--where", where, "--all", "--json");
    expect(JSON.parse(all.out)).toMatchObject({
      tasks: [{ task: at(big, -1) }],
      more: false,
      lookedAt: many,
    });
  });

  test.each([
    [["--all"], "--all"],
    [["--oldest", "--key", "a"], "--oldest"],
    [["--oldest", "-s", "dead"], "--oldest"],
    [["--where", "x"], "where"],
  ])("%j is refused", async (words, field) => {
    const { code, out } = await api.taskgate("tasks", name, ...words);
    expect([code, out]).toEqual([2, expect.stringContaining(field)]);
  });
});
