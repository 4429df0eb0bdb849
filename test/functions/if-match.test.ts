import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Admin } from "../../shared/admin/create-admin";
import { define, enqueue } from "../support/builders";
import { schedule, setAll } from "../contract/schedule-builders";
import { callRoute, setupApi } from "./api-setup";
import type { ApiRequest, ApiResponse, ApiSetup } from "./api-setup";

/*
 * Goal: no change overwrites settings that its caller hasn't seen. Tags change with settings and with nothing else, a change
 * under a condition is made or refused as a whole, and the audit has the value that the caller had read.
 */
let api: ApiSetup;
beforeAll(async () => {
  api = await setupApi();
});
afterAll(() => api.close());

const call = (request: ApiRequest): Promise<ApiResponse> => api.call(request);
const tagIn = ({ headers }: ApiResponse): string => headers["etag"] ?? "none";

/** A definition with one of each thing that has settings. */
async function scene(): Promise<string> {
  const name = await define(api.store, { sharedLimits: [{ name: "partner", limit: 3 }] });
  await setAll(api.store, name, [schedule({ name: "nightly", kind: name })]);
  await call({ route: "api-group", params: { name }, body: { key: "eu", slots: 2 } });
  const body = { watermark: "by-id", value: { last: "1" } };
  await call({ route: "api-watermark", params: { name }, body });
  return name;
}

interface Row {
  readonly name?: string;
  readonly etag: string;
}

interface Thing {
  readonly title: string;
  /** The read that answers the thing's tag. */
  readonly read: (name: string) => ApiRequest;
  /** Changes of the thing, each to another state than the one before. */
  readonly changes: (name: string) => readonly ApiRequest[];
}

const things: readonly Thing[] = [
  {
    title: "a definition",
    read: (name) => ({ route: "api-definition", params: { name } }),
    changes: (name) => [
      { route: "api-limit", params: { name }, body: { limit: 7 } },
      { route: "api-rate", params: { name }, body: { rate: { count: 5, periodMs: 1_000 } } },
      { route: "api-pause", params: { name }, body: {} },
      { route: "api-resume", params: { name }, body: {} },
      { route: "api-owner", params: { name }, body: { app: "billing" } },
    ],
  },
  {
    title: "a shared limit",
    read: () => ({ route: "api-shared-limits", query: { name: "partner" } }),
    changes: () => [
      { route: "api-shared-limit", params: { name: "partner" }, body: { limit: 5 } },
      { route: "api-shared-limit", params: { name: "partner" }, body: { limit: "code" } },
    ],
  },
  {
    title: "a group",
    read: (name) => ({ route: "api-groups", query: { definition: name, key: "eu" } }),
    changes: (name) => [
      { route: "api-group", params: { name }, body: { key: "eu", slots: 4 } },
      { route: "api-group", params: { name }, body: { key: "eu", paused: true } },
    ],
  },
  {
    title: "a schedule",
    read: (name) => ({ route: "api-schedules", query: { definition: name } }),
    changes: (name) => [
      { route: "api-schedule-pause", params: { name }, body: { schedule: "nightly" } },
      { route: "api-schedule-resume", params: { name }, body: { schedule: "nightly" } },
    ],
  },
  {
    title: "a watermark",
    read: (name) => ({ route: "api-watermarks", query: { definition: name } }),
    changes: (name) => [
      { route: "api-watermark", params: { name }, body: { watermark: "by-id", value: [2] } },
      { route: "api-watermark", params: { name }, body: { watermark: "by-id", value: [2] } },
    ],
  },
];

const withTag = (request: ApiRequest, tag: string): ApiRequest => ({
  ...request,
  headers: { "if-match": tag },
});

describe.each(things)("the settings of $title", ({ read, changes }) => {
  test("the settings have a tag that each change under its condition replaces", async () => {
    const name = await scene();
    for (const change of changes(name)) {
      const before = tagIn(await call(read(name)));
      expect(before).toMatch(/^"[\w-]{22}"$/);
      const made = await call(withTag(change, before));
      expect([change.route, made.status]).toEqual([change.route, 200]);
      const after = await call(read(name));
      expect(tagIn(after)).not.toBe(before);
      const refused = await call(withTag(change, before));
      expect(refused).toMatchObject({
        status: 412,
        contentType: "application/problem+json",
        headers: { etag: tagIn(after) },
        body: {
          code: "TASKGATE_ARG_CONFLICT",
          title: "The settings aren't those that were read",
          problems: [{ field: "If-Match" }],
          current: expect.any(Object),
        },
      });
      expect(tagIn(await call(read(name)))).toBe(tagIn(after));
    }
  });

  test("the settings have the same tag as a row of the list, and it stays while tasks come", async () => {
    const name = await scene();
    const before = tagIn(await call(read(name)));
    await enqueue(api.store, name, [{ group: "eu" }, { group: "eu" }, { group: "eu" }]);
    const after = await call(read(name));
    expect(tagIn(after)).toBe(before);
    const isList = read(name).route !== "api-definition";
    const list = isList ? after : await call({ route: "api-definitions" });
    const rows = Object.values(list.body as object).find(Array.isArray) as Row[];
    const tags = rows.filter((row) => isList || row.name === name).map(({ etag }) => etag);
    expect(tags).toEqual([before]);
  });
});

test("a refused limit tells the current values and leaves no entry in the audit", async () => {
  const name = await scene();
  const params = { name };
  await call({ route: "api-limit", params, body: { limit: 3 } });
  const read = tagIn(await call({ route: "api-definition", params }));
  const mine = withTag({ route: "api-limit", params, body: { limit: 5 } }, read);
  expect((await call(mine)).body).toMatchObject({ oldLimit: 3, newLimit: 5 });
  expect((await call(mine)).body).toMatchObject({ status: 412, current: { limit: 5 } });
  const query = { object: name, action: "set_limit" };
  const { body } = await call({ route: "api-audit", query });
  const { entries } = body as { entries: { old: string; new: string }[] };
  expect(entries.map(({ old, new: now }) => [old, now])).toEqual([
    ["3", "5"],
    [null, "3"],
  ]);
});

test("one of two changes with one tag at the same time is made", async () => {
  const name = await scene();
  const tag = tagIn(await call({ route: "api-definition", params: { name } }));
  const put = (limit: number) =>
    call(withTag({ route: "api-limit", params: { name }, body: { limit } }, tag));
  const answers = await Promise.all([put(11), put(12), put(13)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
});

test("a watermark that moves after the read is refused by the database's own comparison", async () => {
  const name = await scene();
  const read: ApiRequest = { route: "api-watermarks", query: { definition: name } };
  const tag = tagIn(await call(read));
  let moves = 1;
  // Another process: it moves the watermark between the read and the change of this one.
  const racing = {
    ...api.admin,
    watermarks: async (query: Parameters<typeof api.admin.watermarks>[0]) => {
      const rows = await api.admin.watermarks(query);
      if (moves-- > 0) {
        const other = { definition: name, watermark: "by-id", value: "[9]", changedBy: "somebody" };
        await api.admin.setWatermark(other);
      }
      return rows;
    },
  };
  const body = { watermark: "by-id", value: [3] };
  const change = withTag({ route: "api-watermark", params: { name }, body }, tag);
  const answer = await callRoute(() => Promise.resolve(racing), change);
  expect(answer).toMatchObject({ status: 412, body: { current: { value: [9] } } });
  expect((await call(read)).body).toMatchObject({ watermarks: [{ value: [9] }] });
});

interface Race {
  readonly title: string;
  readonly read: (name: string) => ApiRequest;
  /** Another process's change, between the read and the change of this one. */
  readonly other: (admin: Admin, definition: string) => Promise<unknown>;
  readonly mine: (name: string) => ApiRequest;
  /** Of the answer: the settings as the other one left them, and its entry in the audit. */
  readonly current: object;
  readonly lastChange: object;
}

const by = { changedBy: "ada" };
const races: readonly Race[] = [
  {
    title: "a limit",
    read: (name) => ({ route: "api-definition", params: { name } }),
    other: (admin, definition) => admin.setLimit({ definition, limit: 9, ...by }),
    mine: (name) => ({ route: "api-limit", params: { name }, body: { limit: 5 } }),
    current: { limit: 9 },
    lastChange: { action: "set_limit", actor: "ada", old: null, new: "9" },
  },
  {
    title: "a rate",
    read: (name) => ({ route: "api-definition", params: { name } }),
    other: (admin, definition) => {
      const rate = { count: 9, periodMs: 1_000, burst: 9 };
      return admin.setRate({ definition, rate, ...by });
    },
    mine: (name) => ({ route: "api-rate", params: { name }, body: { rate: null } }),
    current: { rate: { count: 9, periodMs: 1_000, burst: 9 } },
    lastChange: { action: "set_rate", actor: "ada" },
  },
  {
    title: "a pause",
    read: (name) => ({ route: "api-definition", params: { name } }),
    other: (admin, definition) => admin.pause({ definition, ...by }),
    mine: (name) => ({ route: "api-pause", params: { name }, body: {} }),
    current: { paused: true },
    lastChange: { action: "pause_definition", actor: "ada" },
  },
  {
    title: "a shared limit",
    read: () => ({ route: "api-shared-limits", query: { name: "partner" } }),
    other: (admin) => admin.setSharedLimit({ name: "partner", limit: 9, ...by }),
    mine: () => ({ route: "api-shared-limit", params: { name: "partner" }, body: { limit: 5 } }),
    current: { limit: 9 },
    lastChange: { action: "set_shared_limit", actor: "ada", object: "partner", new: "9" },
  },
  {
    title: "a group",
    read: (name) => ({ route: "api-groups", query: { definition: name, key: "eu" } }),
    other: (admin, definition) => {
      const group = { groupKey: "eu", groupScope: "definition", slots: 9 } as const;
      return admin.setGroup({ definition, ...group, ...by });
    },
    mine: (name) => ({ route: "api-group", params: { name }, body: { key: "eu", slots: 5 } }),
    current: { slots: 9 },
    lastChange: { action: "set_group", actor: "ada", object: "eu", new: "9" },
  },
  {
    title: "a schedule's pause",
    read: (name) => ({ route: "api-schedules", query: { definition: name } }),
    other: (admin, definition) => admin.pauseSchedule({ definition, schedule: "nightly", ...by }),
    mine: (name) => ({
      route: "api-schedule-pause",
      params: { name },
      body: { schedule: "nightly" },
    }),
    current: { paused: true },
    lastChange: { action: "set_schedule_paused", actor: "ada", object: "nightly" },
  },
];

test.each(races)(
  "$title that another process changes after the read is refused by the database's own comparison, and its actor is named",
  async ({ read, other, mine, current, lastChange }) => {
    const name = await scene();
    const tag = tagIn(await call(read(name)));
    let meets = 1;
    // Each call that changes something is preceded by the other process's.
    const racing = new Proxy(api.admin, {
      get: (admin, method: keyof Admin) => {
        const own = admin[method] as (input: unknown) => Promise<unknown>;
        if (!changing.includes(method)) return own;
        return async (input: unknown) => {
          if (meets-- > 0) await other(admin, name);
          return own(input);
        };
      },
    });
    const answer = await callRoute(() => Promise.resolve(racing), withTag(mine(name), tag));
    expect(answer).toMatchObject({ status: 412, body: { current, lastChange } });
    expect(meets).toBeLessThan(1);
    // What the other one has set stands: the next change under its tag is made.
    const now = tagIn(await call(read(name)));
    expect(answer.headers["etag"]).toBe(now);
  },
);

const changing: readonly (keyof Admin)[] = [
  ...(["setLimit", "setRate", "pause", "setSharedLimit", "setGroup"] as const),
  "pauseSchedule",
];

test("a limit that is changed and changed back after the read is set: nothing is lost", async () => {
  const name = await scene();
  const read: ApiRequest = { route: "api-definition", params: { name } };
  const before = await call(read);
  let meets = 1;
  const racing = {
    ...api.admin,
    setLimit: async (change: Parameters<typeof api.admin.setLimit>[0]) => {
      const other = { definition: name, ...by };
      if (meets-- > 0) {
        await api.admin.setLimit({ ...other, limit: 9 });
        const made = api.admin.setLimit(change);
        await expect(made).rejects.toThrow("the settings were changed meanwhile");
        await api.admin.setLimit({ ...other, limit: "code" });
        return made;
      }
      return api.admin.setLimit(change);
    },
  };
  const mine = withTag({ route: "api-limit", params: { name }, body: { limit: 5 } }, tagIn(before));
  expect(await callRoute(() => Promise.resolve(racing), mine)).toMatchObject({ status: 200 });
  expect((await call(read)).body).toMatchObject({ limit: 5 });
});

describe("the header If-Match", () => {
  const put = async (tag: string, params: Record<string, string>, key = "eu") =>
    call(withTag({ route: "api-group", params, body: { key, slots: 3 } }, tag));

  test("the header If-Match takes a list of tags, and any settings with *", async () => {
    const name = await scene();
    const query = { definition: name };
    const tag = tagIn(await call({ route: "api-groups", query }));
    expect((await put(`"other,one" , ${tag}`, { name })).status).toBe(200);
    expect((await put("*", { name })).status).toBe(200);
    expect((await put('"other", "tags"', { name })).status).toBe(412);
    const weak = tagIn(await call({ route: "api-groups", query }));
    expect((await put(`W/${weak}`, { name })).status).toBe(412);
  });

  test("the header If-Match keeps a thing from being made", async () => {
    const name = await scene();
    for (const tag of ["*", '"any"']) {
      const answer = await put(tag, { name }, "new");
      expect(answer).toMatchObject({ status: 412, body: { current: null } });
    }
    expect((await call({ route: "api-groups", query: { definition: name } })).body).toMatchObject({
      groups: [{ key: "eu" }],
    });
  });

  test.each(["", "tag", '"open', '"a" "b"', ",", "*,"])(
    "the header If-Match is refused as %j",
    async (header) => {
      const name = await scene();
      const answer = await put(header, { name });
      expect(answer).toMatchObject({ status: 400, body: { problems: [{ field: "If-Match" }] } });
    },
  );

  test("the header If-Match changes nothing where the definition is unknown, and names near ones", async () => {
    const name = await scene();
    expect((await put("*", { name: `${name}x` })).status).toBe(404);
  });
});
