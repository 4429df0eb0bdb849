import { describe, expect } from "@jest/globals";
import { define } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { defineDue, schedule, setAll, theOne } from "./schedule-builders";
import { answerOf, errorOf } from "./sql-answers";
import { someId } from "./bad-sql-calls";

/** Schedules and watermarks of callers in plain SQL, past the checks of TypeScript: both databases say the same. */
export function describeSqlSchedules(setup: StoreSetup): void {
  describe("schedules in plain SQL", () => {
    describeSchedules(setup);
  });
  describe("watermarks in plain SQL", () => {
    describeWatermarks(setup);
  });
}

/** A call, and a value for its `{v}` that is too long to be written down; arguments read alike in both dialects. */
interface Call {
  readonly name: string;
  readonly of: string;
  readonly value?: LongValue;
}

interface LongValue {
  readonly postgres: string;
  readonly mssql: string;
}

/** `set_schedules` -> `SetSchedules`. */
function procedureOf(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The error of a bad call. */
async function refusal(
  opened: TestStore,
  { dialect }: StoreSetup,
  { name, of, value }: Call,
): Promise<unknown> {
  if (dialect === "mssql") {
    const call = `${procedureOf(name)} ${of.replace("{v}", "@v")}`;
    return (await errorOf(opened, call, value?.mssql))["message"];
  }
  const call = `taskgate.${name}(${of.replace("{v}", value?.postgres ?? "null")})`;
  return opened.call(`select * from ${call}`).then(
    () => "nothing was raised",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

/** The row of a good call, by lower-case column. */
async function answer(
  opened: TestStore,
  { dialect }: StoreSetup,
  { name, of, value }: Call,
): Promise<Record<string, unknown>> {
  if (dialect === "postgres") {
    const call = `taskgate.${name}(${of.replace("{v}", value?.postgres ?? "null")})`;
    return (await opened.call(`select * from ${call}`))[0] ?? {};
  }
  const own = `${procedureOf(name)} ${of.replace("{v}", "@v")}`;
  const row = await answerOf(opened, own, value?.mssql);
  return Object.fromEntries(Object.entries(row).map(([key, held]) => [key.toLowerCase(), held]));
}

/** A text that is repeated, between brackets where there are some. */
function repeated(
  text: string,
  times: number,
  brackets: readonly [string, string] = ["", ""],
): LongValue {
  const count = String(times);
  const [before, after] = brackets;
  return {
    postgres: `'${before}' || repeat('${text}', ${count}) || '${after}'`,
    mssql: `N'${before}' + REPLICATE(CONVERT(nvarchar(max), N'${text}'), ${count}) + N'${after}'`,
  };
}

const tooLongWho = "w".repeat(201);

function describeSchedules(setup: StoreSetup): void {
  const open = useStore(setup);
  const withSql = testWith(setup, "raw sql");

  withSql("a list of 8 MiB is taken; of a longer one only its size is told", async () => {
    const opened = open();
    await define(opened.store, {}, "demo");
    const call = { name: "set_schedules", of: "'demo', 1, {v}, 'me'" };
    const max = { ...call, value: repeated(" ", 8_388_606, ["[", "]"]) };
    expect(await answer(opened, setup, max)).toMatchObject({ status: "exists" });
    const more = { ...call, value: repeated("x", 8_388_609) };
    expect(await refusal(opened, setup, more)).toBe(
      "schedules: expected at most 8388608 bytes (8388609)",
    );
  });

  withSql("the first of two faults is told: the actor before the list", async () => {
    const opened = open();
    const call = { name: "set_schedules", of: `'demo', 1, 'x', '${tooLongWho}'` };
    expect(await refusal(opened, setup, call)).toMatch(/^changed_by: /);
    const unknown = { name: "set_schedules", of: "'nobody', 1, '{}', 'me'" };
    expect(await refusal(opened, setup, unknown)).toMatch(/^schedules: /);
  });

  withSql("no build is older than any", async () => {
    const opened = open();
    await define(opened.store, {}, "demo");
    await setAll(opened.store, "demo", [schedule()]);
    const call = { name: "set_schedules", of: "'demo', null, '[]', 'me'" };
    expect(await answer(opened, setup, call)).toMatchObject({ status: "outdated", changed: 0 });
    expect(await theOne(opened.store, "demo")).toMatchObject({ name: "nightly" });
  });

  withSql(
    "a name that goes on, or ends in a blank, isn't the one that it begins with",
    async () => {
      const opened = open();
      const { store } = opened;
      const longest = "n".repeat(200);
      for (const name of ["demo", longest]) {
        await define(store, {}, name);
        await setAll(store, name, [schedule({ name: "s" }), schedule({ name: longest })]);
      }
      const said = (of: string) =>
        refusal(opened, setup, { name: "set_schedule_paused", of: `${of}, null, null, 'me'` });
      const paused = setup.dialect === "mssql" ? "1" : "true";
      const pause = (name: string, of: string) =>
        refusal(opened, setup, {
          name: "set_schedule_paused",
          of: `'${name}', '${of}', ${paused}, null, 'me'`,
        });
      expect(await said("'demo', 's'")).toBe("paused: expected true or false (<NULL>)");
      for (const name of ["demo ", `${longest}n`]) {
        expect(await pause(name, "s")).toBe(`name: unknown definition (${name})`);
      }
      for (const name of ["s ", `${longest}n`]) {
        expect(await pause("demo", name)).toBe(`schedule: unknown (${name})`);
      }
      const { schedules } = await store.listSchedules({ max: 10 });
      expect(schedules.map((row) => row.paused)).toEqual([false, false, false, false]);
    },
  );

  withSql("a text that is no instant is refused with the others, and told as it is", async () => {
    const opened = open();
    const { dueAt, name } = await defineDue(opened.store, -10);
    const { id } = await theOne(opened.store, name);
    for (const [list, shown] of [
      ['["x"]', "x"],
      ["[null]", "<NULL>"],
      [`["${dueAt.toISOString()}","5%"]`, "5%"],
      ['["","y"]', ""],
    ] as const) {
      const of = `${String(id)}, '${dueAt.toISOString()}', '${list}', null`;
      expect(await refusal(opened, setup, { name: "fire_schedule", of })).toBe(
        `run_ats: expected instants from expected_run_at to now, ascending (${shown})`,
      );
    }
    expect(await theOne(opened.store, name)).toMatchObject({ lastRunAt: null });
  });
}

function describeWatermarks(setup: StoreSetup): void {
  const open = useStore(setup);
  const withSql = testWith(setup, "raw sql");

  withSql("the first argument's fault of two is told, the actor's before all", async () => {
    const opened = open();
    await define(opened.store, {}, "demo");
    for (const [of, says] of [
      [`'demo', '', '7', -1, null, '${tooLongWho}'`, /^changed_by: /],
      ["'demo', '', '7', -1, null, 'me'", /^watermark: /],
      ["'demo', 'w', '7', -1, null, 'me'", /^expected_version: /],
      ["'demo', 'w', '7', 0, null, 'me'", /^value: /],
      ["'nobody', 'w', '[]', 0, null, 'me'", /^operation_id: /],
      [`'nobody', 'w', '[]', 0, ${someId}, 'me'`, /^name: /],
    ] as const) {
      expect(await refusal(opened, setup, { name: "set_watermark", of })).toMatch(says);
    }
  });

  withSql("a name that ends in a blank matches no row", async () => {
    const opened = open();
    await define(opened.store, {}, "demo");
    const set = `'demo', 'w', '[]', null, ${someId}, 'me'`;
    expect(await answer(opened, setup, { name: "set_watermark", of: set })).toMatchObject({
      status: "set",
    });
    const list = (of: string) => answer(opened, setup, { name: "list_watermarks", of });
    expect(await list("'demo', 'w ', 10")).toMatchObject({ watermarks: "[]" });
    expect(await list("'demo', 'w', 10")).not.toMatchObject({ watermarks: "[]" });
  });
}
