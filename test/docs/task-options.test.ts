import { describe, expect, test } from "@jest/globals";
import { defineQueue, defineTask } from "../../shared";
import { settingsTable } from "../../shared/settings/settings";
import { TestBench } from "../../shared/testing";
import { settingNames } from "../../shared/worker/define/define-queue";
import { kindOptionNames } from "../../shared/worker/define/define-task";
import type { TaskKind } from "../../shared/worker/define/task-kind";
import { readPage } from "./markdown";

/*
 * Goal: the table of options says of each option what the code does: whose it is, its default, and its range. The page is made from
 * the comments of the types; its other test compares the page with them.
 */
interface Row {
  readonly name: string;
  readonly of: string;
  readonly default: string;
  readonly range: string;
}

type Options = Readonly<Record<string, unknown>>;

const [, common = "", advanced = ""] = readPage("docs/reference/task-options.md").split(/^## /m);

function readRows(section: string): Row[] {
  const lines = [...section.matchAll(/^\| `(?!ctx\.)(.+)$/gm)].map(([, line = ""]) => line);
  return lines.map((line) => {
    const [name = "", of = "", , fallback = "", range = ""] = line.split(/(?<!\\)\|/);
    const cells = [name.replace("`", ""), of, fallback, range].map((cell) => cell.trim());
    const [first = "", second = "", third = "", fourth = ""] = cells;
    return { name: first, of: second, default: third, range: fourth };
  });
}

const rows = [...readRows(common), ...readRows(advanced)];
const row = (name: string): Row => {
  const found = rows.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no row of ${name}`);
  return found;
};

/** `{ retry: { attempts: 5 } }` of `retry.attempts`. */
function withOption(options: Options, name: string, value: unknown): Options {
  const [first = "", ...others] = name.split(".");
  if (others.length === 0) return { ...options, [first]: value };
  const inner = (options[first] ?? {}) as Options;
  return { ...options, [first]: withOption(inner, others.join("."), value) };
}

const kindOf = (options: Options): TaskKind =>
  defineTask({ name: "report", run: () => Promise.resolve(), ...options } as never);
const queueOf = (options: Options): unknown => defineQueue({ name: "reports", ...options });

const withoutCommas = (text: string): string => text.replaceAll(/(?<=\d),(?=\d{3})/g, "");

/** Defaults that are values. */
const values = rows.flatMap(({ name, default: text }): [string, unknown][] => {
  const code = /^`(.+)`$/.exec(text)?.[1];
  return code === undefined ? [] : [[name, JSON.parse(withoutCommas(code))]];
});

describe("the table of options", () => {
  test("the table has a row for each option, and no others", () => {
    const names = rows.map(({ name }) => name).filter((name) => !name.includes("."));
    expect(names.sort()).toEqual([...kindOptionNames, ...settingNames].sort());
  });

  test("the advanced options stand under their own heading", () => {
    expect(advanced).toMatch(/^Advanced\n/);
    expect(readRows(advanced).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["lostMax", "prefetch", "concurrencyPerWorker"]),
    );
    expect(advanced).toContain("| `ctx.fence` | `Fence` |");
  });

  test("the table says of each option whether a queue takes it, too", () => {
    for (const { name, of } of rows.filter((each) => each.name !== "name")) {
      const given = name.startsWith("group.")
        ? withOption({}, name, undefined)
        : { [name.split(".")[0] ?? ""]: undefined };
      const define = (): unknown => queueOf(given);
      if (of === "queue" || name === "group") expect(define).not.toThrow();
      else expect([name, catchMessage(define)]).toEqual([name, expect.stringContaining("unknown")]);
    }
  });
});

function catchMessage(body: () => unknown): string {
  try {
    body();
    return "nothing was thrown";
  } catch (error) {
    return String(error);
  }
}

describe("the defaults of the table", () => {
  test("the defaults make the kind that a name and `run` alone make", async () => {
    expect(values.length).toBeGreaterThan(16);
    const written = kindOf(
      values.reduce((made, [name, value]) => withOption(made, name, value), {}),
    );
    const bare = kindOf({});
    expect(written.definition).toEqual(bare.definition);
    expect([written.timeoutMs, written.version]).toEqual([bare.timeoutMs, bare.version]);
    // The store gives these two.
    const { priority, runInMs } = written.rules;
    expect(written.rules).toEqual({ ...bare.rules, priority, runInMs });
    const bench = new TestBench([bare]);
    await bench.enqueue(bare, {});
    expect(await bench.tasks()).toMatchObject([{ priority, state: "ready" }]);
    expect(runInMs).toBe(0);
  });

  test("a default that is no value is what the code computes", () => {
    expect(row("rate.burst").default).toBe("what refills in 100 ms");
    const { rate } = kindOf({ rate: { count: 600, periodMs: 6_000 } }).definition.settings;
    expect(rate?.burst).toBe(10);
    const { retryCapMs } = kindOf({ retry: { baseMs: 400_000 } }).definition.settings;
    expect(retryCapMs).toBe(400_000);
    const setting = /the setting (\S+)/.exec(row("concurrencyPerWorker").default)?.[1];
    expect(settingsTable.map(({ name }) => name)).toContain(setting?.replaceAll("\\", ""));
    expect(kindOf({}).definition.concurrencyPerWorker).toBeNull();
    expect(row("queue").default).toBe("one of the kind's own name");
    expect(kindOf({}).definition.name).toBe("report");
  });
});

/** What an option can't be without. */
const companions: Readonly<Record<string, Options>> = {
  rate: { rate: { count: 1_000_000, periodMs: 1_000 } },
  dedupe: { dedupe: { by: "id" } },
};

/** Each version needs the step of the one before it. */
function stepsTo(version: unknown): Options {
  const older = Array.from({ length: Number(version) - 1 }, (_, at) => at + 1);
  if (older.length === 0) return {};
  return { upgrade: Object.fromEntries(older.map((at) => [at, (old: unknown) => old])) as object };
}

const bounds = rows.flatMap(({ name, range }) => {
  const [, least, most] =
    /^(-?[\d,]+|`\w+`)\.\.(-?[\d,]+|`\w+`)(?: ms)?(?:, or null)?$/.exec(range) ?? [];
  if (least === undefined || most === undefined) return [];
  const numberOf = (text: string): number | null =>
    text.startsWith("`") ? null : Number(withoutCommas(text));
  return [{ name, range, least: numberOf(least), most: numberOf(most) }];
});

describe("the ranges of the table", () => {
  test("each range with numbers is read", () => {
    const unread = rows.filter(
      ({ name, range }) => range !== "" && !bounds.some((each) => each.name === name),
    );
    expect(unread.map(({ name, range }) => [name, range])).toEqual([
      ["name", "1..200 characters"],
      ["within", "at most 8"],
    ]);
  });

  test.each(bounds)(
    "defineTask takes $name in $range, and refuses the numbers beside it",
    ({ name, range, least, most }) => {
      const [first = ""] = name.split(".");
      const tell = (value: unknown): string => {
        const options = withOption(companions[first] ?? {}, name, value);
        return catchMessage(() =>
          kindOf({ ...options, ...stepsTo(name === "version" ? value : 1) }),
        );
      };
      const isRefused = expect.stringContaining(`${name}: expected`);
      for (const [bound, outside] of [
        [least, -1],
        [most, 1],
      ] as const) {
        if (bound === null) continue;
        expect([bound, tell(bound)]).toEqual([bound, "nothing was thrown"]);
        expect([bound + outside, tell(bound + outside)]).toEqual([bound + outside, isRefused]);
      }
      expect(range.endsWith("or null")).toBe(["limit", "timeoutMs"].includes(name));
      if (range.endsWith("or null")) expect(tell(null)).toBe("nothing was thrown");
    },
  );

  test("a range that names another option follows it", () => {
    const tell = (options: Options): string => catchMessage(() => kindOf(options));
    expect(tell({ retry: { baseMs: 500, capMs: 499 } })).toContain("retry.capMs: expected");
    const rate = { count: 10, periodMs: 1_000 };
    expect(tell({ rate: { ...rate, burst: 11 } })).toContain("rate.burst: expected");
    expect(tell({ rate: { ...rate, burst: 10 } })).toBe("nothing was thrown");
  });

  test("defineTask refuses a name of 201 characters and a ninth shared limit", () => {
    const tell = (options: Options): string => catchMessage(() => kindOf(options));
    for (const name of ["", "n".repeat(201)]) expect(tell({ name })).toContain("name: expected");
    expect(tell({ name: "n".repeat(200) })).toBe("nothing was thrown");
    const within = Array.from({ length: 9 }, (_, at) => `limit-${String(at)}`);
    expect(tell({ within })).toContain("within.length: expected");
    expect(tell({ within: within.slice(1) })).toBe("nothing was thrown");
  });
});
