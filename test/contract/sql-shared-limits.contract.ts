import { describe, expect } from "@jest/globals";
import { define } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { refusalOf } from "./refused-sql";

/** Shared limits in plain SQL, past the checks of TypeScript: both databases refuse the same, in the same words. */
export function describeSqlSharedLimits(setup: StoreSetup): void {
  describe("a shared limit in plain SQL", () => {
    describeNames(setup);
  });
  describe("a definition's shared limits in plain SQL", () => {
    describeRegistered(setup);
  });
}

const long = "x".repeat(201);

function describeNames(setup: StoreSetup): void {
  const open = useStore(setup);
  const id = "'00000000-0000-4000-8000-000000000001'";

  async function set(opened: TestStore, nameAndLimit: string, by = "me"): Promise<string> {
    const values = `${nameAndLimit}, ${id}, '${by}'`;
    const calls = { postgres: `set_shared_limit(${values})`, mssql: `SetSharedLimit ${values}` };
    const said = await refusalOf(opened, setup, calls);
    expect((await opened.store.listSharedLimits({ max: 10 })).sharedLimits).toEqual([]);
    return said;
  }

  testWith(setup, "raw sql")("a shared limit isn't set under a name that is none", async () => {
    const opened = open();
    for (const [name, shown] of [
      ["null", "<NULL>"],
      ["''", ""],
      ["' s'", " s"],
      ["'5% '", "5% "],
      [`'${long}'`, long],
    ] as const) {
      expect(await set(opened, `${name}, 1`)).toBe(
        `name: expected 1..200 characters without blanks at either end (${shown})`,
      );
    }
  });

  testWith(setup, "raw sql")("the first fault of several that is looked for is told", async () => {
    const opened = open();
    expect(await set(opened, "'', -2", "w".repeat(201))).toMatch(/^changed_by: expected/);
    expect(await set(opened, "'', -2")).toMatch(/^name: expected/);
    expect(await set(opened, "'s', -2")).toMatch(/^limit: expected/);
  });
}

function describeRegistered(setup: StoreSetup): void {
  const open = useStore(setup);

  /** Registers a definition that names these. */
  async function register(opened: TestStore, shared: unknown): Promise<string> {
    const list = `'${typeof shared === "string" ? shared : JSON.stringify(shared)}'`;
    const values = "'demo', 1, 'h', 'me', 2, 60000, 5, 3, 1000, 300000, 1, 1";
    const said = await refusalOf(opened, setup, {
      postgres: `register_definition(${values}, false, 1000, 1000, p_shared_limits => ${list})`,
      mssql: `RegisterDefinition ${values}, 0, 1000, 1000, @SharedLimits = ${list}`,
    });
    expect((await opened.store.listDefinitions({})).definitions).toEqual([]);
    return said;
  }

  testWith(setup, "raw sql")("a definition's shared limits have names", async () => {
    const opened = open();
    const noNames = [[{}], [{ name: "" }], [{ name: " s" }], [{ name: "s " }], [{ name: long }]];
    const noObjects = [[1], ["s"], [null], [["s"]], [{ name: ["s"] }]];
    for (const list of [...noNames, ...noObjects, [{ name: "s" }, {}, {}]]) {
      expect(await register(opened, list)).toBe(
        `shared_limits: expected names of 1..200 characters without blanks at either end (${JSON.stringify(list).slice(0, 200)})`,
      );
    }
  });

  testWith(setup, "raw sql")(
    "a definition's shared limits have whole numbers as limits",
    async () => {
      const opened = open();
      const texts = ["", "-", "x", "1.5", " 5", "5 ", "\t5", "+5", "--5", "5-", "00005", "1e2"];
      const others = [1.5, true, -2, 1_001, 99_999_999_999, [5], [], { a: 5 }, {}];
      for (const limit of [...texts, ...others]) {
        const list = JSON.stringify([{ name: "s", limit }]);
        expect(await register(opened, list)).toBe(
          `shared_limits: expected limits of -1..1000 (${list})`,
        );
      }
    },
  );

  testWith(setup, "raw sql")(
    "each shared limit stands once in a list of at most eight",
    async () => {
      const opened = open();
      const twice = JSON.stringify([{ name: "s" }, { name: "t" }, { name: "s", limit: 5_000 }]);
      expect(await register(opened, twice)).toBe(
        `shared_limits: expected each name once (${twice})`,
      );
      expect(
        await register(
          opened,
          Array.from({ length: 9 }, () => ({})),
        ),
      ).toBe("shared_limits: expected at most 8 (9)");
      for (const list of ["{}", "x", "", '"["']) {
        expect(await register(opened, list)).toBe(
          `shared_limits: expected a JSON array of {name, limit} (${list})`,
        );
      }
    },
  );

  testWith(setup, "raw sql")(
    "a definition's shared limits may be none, and may be without a limit",
    async () => {
      const opened = open();
      await define(opened.store, { sharedLimits: [] }, "none");
      await define(opened.store, { sharedLimits: [{ name: "s", limit: -1 }] }, "one");
      const { definitions } = await opened.store.listDefinitions({});
      expect(definitions.map(({ name, sharedLimits }) => [name, sharedLimits.length])).toEqual([
        ["none", 0],
        ["one", 1],
      ]);
    },
  );
}
