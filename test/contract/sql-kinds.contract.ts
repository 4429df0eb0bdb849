import { describe, expect } from "@jest/globals";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { refusalOf } from "./refused-sql";

/** The rules of kinds in plain SQL, past the checks of TypeScript: both databases refuse the same, in the same words. */
export function describeSqlKinds(setup: StoreSetup): void {
  describe("bad rules of kinds in plain SQL", () => {
    describeRefused(setup);
  });
  describe("rules of kinds in plain SQL", () => {
    describeTaken(setup);
  });
}

type Rules = Readonly<Record<string, unknown>>;

const most = 3_153_600_000_000;
const longName = "x".repeat(200);
const names = (count: number): Rules[] =>
  Array.from({ length: count }, (_, index) => ({ kind: `k${String(index)}` }));
const one = (rules: Rules): string => JSON.stringify([{ kind: "letter", ...rules }]);

const expected = {
  list: "a JSON array of objects",
  name: "names of 1..200 characters without blanks at either end",
  once: "each name once",
  path: "paths of names joined by dots, such as customer.id",
  computed: "isGroupComputed true or false, and true only without groupBy",
  priority: "priorities of -32768..32767",
  delay: `runInMs of 0..${String(most)}`,
  window: `dedupeMs of 1..${String(most)}, only with dedupeBy`,
} as const;

const badNames: readonly unknown[] = [null, "", " x", "x ", `${longName}y`];
const badPaths = ["", "a-b", "1a", "a.1b", "a..b", ".a", "a.", "ä", `${longName}y`];
const badPriorities = ["32768", "-32769", "1.5", "+1", "-", "", " 1", "000001", "-000001", "1e3"];
const badTimes = ["-1", "1.5", "", "x", " 1", String(most + 1), "00000000000001"];

const refused: readonly (readonly [says: keyof typeof expected, kinds: string])[] = [
  ...["", "{}", "7", "[7]", '["letter"]', "[{},[]]", "[", '[{"kind":"a"}'].map(
    (kinds) => ["list", kinds] as const,
  ),
  ...badNames.map((kind) => ["name", JSON.stringify([{ kind }])] as const),
  ["name", "[{}]"],
  ["once", JSON.stringify([{ kind: "a" }, { kind: "b" }, { kind: "a" }])],
  ...badPaths.flatMap((path) => [
    ["path", one({ groupBy: path })] as const,
    ["path", one({ dedupeBy: path })] as const,
  ]),
  [
    "path",
    JSON.stringify([
      { kind: "a", groupBy: "a" },
      { kind: "b", groupBy: "a b" },
    ]),
  ],
  ...["yes", "True", 1].map((isGroupComputed) => ["computed", one({ isGroupComputed })] as const),
  ["computed", one({ isGroupComputed: true, groupBy: "a" })],
  ...badPriorities.map((priority) => ["priority", one({ priority })] as const),
  ...badTimes.map((runInMs) => ["delay", one({ runInMs })] as const),
  ...[...badTimes, "0"].map((dedupeMs) => ["window", one({ dedupeBy: "a", dedupeMs })] as const),
  ["window", one({ dedupeMs: 1 })],
  // Of several faults the first that is looked for is told.
  ["name", JSON.stringify([{ kind: "" }, { kind: "" }])],
  ["once", JSON.stringify([{ kind: "a" }, { kind: "a", groupBy: "" }])],
  ["path", one({ groupBy: "-", isGroupComputed: "x" })],
  ["computed", one({ isGroupComputed: "x", priority: "x" })],
  ["priority", one({ priority: "x", runInMs: "x" })],
  ["delay", one({ runInMs: "x", dedupeMs: "x" })],
];

const taken: readonly (readonly [what: string, kinds: string])[] = [
  ["none", "[]"],
  ["a thousand", JSON.stringify(names(1_000))],
  ["names that differ in case only", JSON.stringify([{ kind: "a" }, { kind: "A" }])],
  ["a long name and long paths", one({ kind: longName, groupBy: longName, dedupeBy: longName })],
  ["paths of names", one({ groupBy: "_a.b2.C_", dedupeBy: "a" })],
  ["the lowest priority", one({ priority: -32_768 })],
  ["the highest priority", one({ priority: 32_767 })],
  ["the shortest times", one({ runInMs: 0, dedupeBy: "a", dedupeMs: 1 })],
  ["the longest times", one({ runInMs: most, dedupeBy: "a", dedupeMs: most })],
  ["a group that the code computes", one({ isGroupComputed: true })],
  ["a group by path", one({ isGroupComputed: false, groupBy: "a" })],
];

/** What a registration with these kinds says. */
function register(opened: TestStore, setup: StoreSetup, kinds: string): Promise<string> {
  const text = kinds.replaceAll("'", "''");
  const values = "'demo', 1, 'h', 'me', 2, 60000, 5, 3, 1000, 300000, 1, 1";
  return refusalOf(opened, setup, {
    postgres: `register_definition(${values}, false, 1000, 1000, p_kinds => '${text}')`,
    mssql: `RegisterDefinition ${values}, 0, 1000, 1000, @Kinds = N'${text}'`,
  });
}

function describeRefused(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "raw sql")(
    "bad rules of kinds are refused by name, and nothing is registered",
    async () => {
      const opened = open();
      for (const [says, kinds] of refused)
        expect([kinds, await register(opened, setup, kinds)]).toEqual([
          kinds,
          `kinds: expected ${expected[says]} (${kinds.slice(0, 200)})`,
        ]);
      expect(await register(opened, setup, JSON.stringify(names(1_001)))).toBe(
        "kinds: expected at most 1000 (1001)",
      );
      expect((await opened.store.listDefinitions({})).definitions).toEqual([]);
    },
  );
}

function describeTaken(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const [what, kinds] of taken)
    testWith(setup, "raw sql")(`rules of kinds are taken: ${what}`, async () => {
      const opened = open();
      expect(await register(opened, setup, kinds)).toBe("not refused");
      expect((await opened.store.listDefinitions({})).definitions).toHaveLength(1);
    });

  testWith(setup, "raw sql")("a member with a blank behind its name isn't the group", async () => {
    const opened = open();
    await register(opened, setup, one({ isGroupComputed: true }));
    const refusal = async (member: string) => {
      const tasks = `'[{"kind":"letter","${member}":"x"}]'`;
      return refusalOf(opened, setup, {
        postgres: `enqueue_tasks('demo', 1, ${tasks}, p_is_checked => true)`,
        mssql: `EnqueueTasks 'demo', 1, ${tasks}, @IsChecked = 1`,
      });
    };
    expect(await refusal("group ")).toMatch(/^tasks\[0\]\.group: expected a key, or null for none/);
    expect(await refusal("group")).toBe("not refused");
  });

  testWith(setup, "raw sql")(
    "a fault of any entry is told before a rule that another one breaks",
    async () => {
      const opened = open();
      await register(opened, setup, one({ isGroupComputed: true }));
      const tasks = `'[{"kind":"letter"},{"priority":40000}]'`;
      const refusal = await refusalOf(opened, setup, {
        postgres: `enqueue_tasks('demo', 1, ${tasks})`,
        mssql: `EnqueueTasks 'demo', 1, ${tasks}`,
      });
      expect(refusal).toBe("tasks[1].priority: expected -32768..32767 (40000)");
    },
  );
}
