import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { calls, makeLimitScene } from "./limit-scene";

// Goal: a limit that a definition shares is seen where its definitions are seen, and an error that means the limit names it.
let api: ApiSetup;
beforeAll(async () => {
  api = await setupApi();
  await makeLimitScene(api);
});
afterAll(async () => {
  await api.close();
});

/** The cells of a row, by the first of them; columns stand two blanks apart. */
async function rowsOf(...words: readonly string[]): Promise<Record<string, string[]>> {
  const { code, out } = await api.taskgate(...words);
  expect(code).toBe(0);
  const rows = out.split("\n").map((line) => line.trim().split(/ {2,}/));
  return Object.fromEntries(rows.map(([name = "", ...cells]) => [name, cells]));
}

describe("a definition without a limit of its own", () => {
  test.each(["status", "definitions"])(
    "`taskgate %s` shows the narrowest limit that it shares, and the tokens of all",
    async (command) => {
      const rows = await rowsOf(command);
      expect(rows["notify"]?.slice(0, 3)).toEqual(["4 of partner-api", "1 (3 by all)", "1"]);
      expect(rows["resize"]?.slice(0, 3)).toEqual(["8", "0", "0"]);
      expect(rows["free"]?.slice(0, 3)).toEqual(["none", "0", "0"]);
    },
  );

  test("`taskgate limits` and `taskgate top` show the same limit", async () => {
    expect((await rowsOf("limits"))["notify"]).toEqual([
      ...["definition", "4 of partner-api", "none", "1 (3 by all)", "code"],
    ]);
    expect((await rowsOf("top"))["notify"]?.[0]).toBe("1/4 of partner-api");
  });

  test("`taskgate definitions NAME` tells its own limit behind the one in force", async () => {
    expect((await rowsOf("definitions", "notify"))["limit"]).toEqual([
      "4 of partner-api; its own: none (set by the code; the code says none)",
    ]);
    expect((await rowsOf("definitions", "resize"))["limit"]).toEqual([
      "8 (set by the code; the code says 8)",
    ]);
  });

  test("`taskgate status --json` and GET definitions keep its own limit, with those that it shares beside it", async () => {
    const sharedLimits = [
      { name: "database", limit: 20, limitSource: "code", held: 1 },
      { name: "partner-api", limit: 4, limitSource: "code", held: 3 },
    ];
    const listed = JSON.parse((await api.taskgate("status", "--json")).out) as {
      definitions: { name: string }[];
    };
    const { body } = await api.call({ route: "api-definitions" });
    for (const { definitions } of [listed, body as typeof listed])
      expect(definitions.find(({ name }) => name === "notify")).toMatchObject({
        ...{ limit: null, held: 1, sharedLimits },
      });
  });
});

describe("functions under a limit", () => {
  test("`taskgate status` names them in words, with their tokens and without counts of tasks", async () => {
    const { out } = await api.taskgate("status");
    expect(out).not.toContain(calls);
    const cells = (await rowsOf("status"))["functions under partner-api"];
    expect(cells).toEqual(["4 of partner-api", "2 (3 by all)", "-", "-", "-", "-", "-", "-", "-"]);
  });

  test("`taskgate limits` and `taskgate executions` name them in the same words", async () => {
    const rows = await rowsOf("limits", "partner-api");
    expect(rows["partner-api"]?.at(-1)).toBe("functions under partner-api 2, notify 1, resize 0");
    const { out } = await api.taskgate("executions");
    expect(out).toMatch(/ functions under partner-api {2}live +2 +- +- /);
    expect(out).toMatch(/ notify +live +1 +1 +0 /);
  });

  test("`taskgate definitions NAME` tells the words and the name, and no facts of tasks", async () => {
    const facts = await rowsOf("definitions", calls);
    expect(facts).toMatchObject({
      definition: [`${calls}: functions under partner-api`],
      "tokens held": ["2"],
      tasks: ["none: functions hold the tokens in their invocations"],
    });
    expect(Object.keys(facts)).not.toContain("ready");
  });

  test("`taskgate definitions --json` and GET status keep their name", async () => {
    const { out } = await api.taskgate("definitions", "--json");
    const { body } = await api.call({ route: "api-status" });
    for (const { definitions } of [JSON.parse(out), body] as { definitions: object[] }[])
      expect(definitions).toContainEqual(expect.objectContaining({ name: calls, done: 0 }));
  });
});

describe("taskgate definitions", () => {
  test.each([["definitions"], ["status"]])(
    "the command %s has the column APP only where a definition belongs to an app",
    async (command) => {
      expect((await api.taskgate(command)).out).not.toMatch(/^DEFINITION.*\bAPP\b/m);
      await api.taskgate("owner", "notify", "billing");
      const { out } = await api.taskgate(command);
      await api.taskgate("owner", "notify", "--release");
      expect(out).toMatch(/^DEFINITION.*\bAPP\b/m);
      expect(out).toMatch(/^notify .*\bbilling\b/m);
    },
  );

  test("the command definitions names no due instant where no task is scheduled", async () => {
    expect((await api.taskgate("definitions", "notify")).out).toMatch(/^scheduled +0$/m);
    await api.taskgate("enqueue", "notify", "--run-in", "1h");
    const { out } = await api.taskgate("definitions", "notify");
    expect(out).toMatch(/^scheduled +1, next due in (1 h|59 min)/m);
    await api.taskgate("cancel", "notify", "--all");
  });
});

describe("an unknown name of a definition", () => {
  const ways = "`taskgate limit partner-api --shared`, over HTTP `shared-limits/partner-api`";

  test.each([
    [["pause", "partner-api"]],
    [["limit", "partner-api", "2"]],
    [["definitions", "partner-api"]],
  ])(
    "`taskgate %j` names the shared limit that is meant, and its command and route",
    async (words) => {
      const { code, out } = await api.taskgate(...words);
      expect(code).toBe(3);
      expect(out).toContain(`; \`partner-api\` is a limit that definitions share: ${ways}`);
      expect(out).not.toContain(calls);
    },
  );

  test("PUT definitions/NAME/limit names the route of the shared limit that is meant", async () => {
    const { status, body } = await api.call({
      ...{ route: "api-limit", params: { name: "partner-api" }, body: { limit: 2 } },
    });
    expect(status).toBe(404);
    expect(body).toMatchObject({
      problems: [
        { expected: expect.stringContaining(`is a limit that definitions share: ${ways}`) },
      ],
    });
    expect(JSON.stringify(body)).not.toContain(calls);
  });

  test("an error suggests a shared limit where it is the nearest name, and no functions", async () => {
    const hintOf = async (name: string): Promise<string> =>
      (await api.taskgate("pause", name)).out.split("registered definition; ")[1]?.trim() ?? "";
    expect(await hintOf("partner-apo")).toBe(
      `did you mean the shared limit \`partner-api\` (${ways})?`,
    );
    expect(await hintOf("notfy")).toBe("did you mean `notify`?");
    expect(await hintOf("zzz")).toBe("there are `free`, `notify`, `resize`");
    expect((await api.taskgate("limits", "zzz")).out).not.toContain(calls);
  });

  test.each([["pause"], ["limits"], ["limit"]])(
    "`taskgate %s` with the name that people read names the functions under a limit",
    async (command) => {
      const { code, out } = await api.taskgate(command, "functions under partner-api");
      expect(code).toBe(3);
      expect(out).toContain("; these functions are `calls:partner-api` here");
    },
  );

  test("an error suggests functions under a limit where the prefix of their names is given", async () => {
    const { out } = await api.taskgate("pause", "calls:partner-apo");
    expect(out).toContain("did you mean `calls:partner-api`?");
  });

  test("an error suggests a definition whose name is nearer than that of a shared limit", async () => {
    await api.register("partner-apis");
    const { out } = await api.taskgate("pause", "partner-apiss");
    expect(out).toContain("did you mean `partner-apis`?");
  });
});
