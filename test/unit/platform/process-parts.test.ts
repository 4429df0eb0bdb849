import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { SettingsError } from "../../../shared/core/errors";
import { resolveBuild } from "../../../shared/platform/build-info";
import { createConsoleLogger } from "../../../shared/platform/console-logger";
import { nodeTimers } from "../../../shared/platform/node-timers";

const clock = { nowMs: () => Date.UTC(2026, 0, 31, 8, 30, 1), monotonicMs: () => 0 };

describe("the logger", () => {
  function linesOf(form: "human" | "json"): {
    lines: string[];
    logger: ReturnType<typeof createConsoleLogger>;
  } {
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    return { lines, logger: createConsoleLogger({ level: "info", form, clock, write }) };
  }

  test("the logger drops lines below its level", () => {
    const { lines, logger } = linesOf("human");
    logger.debug("hidden");
    logger.info("seen");
    expect(lines).toEqual(["08:30:01 info  seen"]);
  });

  test.each(["human", "json"] as const)(
    "the logger writes a %s line of whatever JavaScript logs, and never throws",
    (form) => {
      const { lines, logger } = linesOf(form);
      const log = logger.error as (message: unknown, fields?: unknown) => void;
      const circle: Record<string, unknown> = {};
      circle["self"] = circle;
      const bare = Object.create(null) as object;
      const values: unknown[] = [new Error("boom"), undefined, 42, Symbol("s"), circle, bare];
      for (const value of values) log(value, { value, n: 1n, bare });
      log("text", null);
      log("text", 5);
      expect(lines).toHaveLength(values.length + 2);
      expect(lines[0]).toContain("Error: boom");
      expect(lines[2]).toContain("42");
    },
  );

  test("the logger writes one human line for any text", () => {
    const { lines, logger } = linesOf("human");
    logger.warn("two\nlines\u001b[2J", {
      definition: "a",
      count: 2,
      text: "a b",
      empty: "",
      missing: undefined,
    });
    expect(lines).toEqual([
      '08:30:01 warn  two\\nlines\\u001b[2J definition=a count=2 text="a b" empty=""',
    ]);
  });

  test("the logger writes one JSON object whose own members fields don't replace", () => {
    const { lines, logger } = linesOf("json");
    logger.error("failed", { level: 3, worker: null });
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      time: "2026-01-31T08:30:01.000Z",
      level: "error",
      message: "failed",
      level_: 3,
      worker: null,
    });
  });
});

describe("the timers", () => {
  test("the timers call back once, also after longer than Node's own timers last, and not when taken back", () => {
    jest.useFakeTimers();
    const calls: string[] = [];
    nodeTimers.after(30 * 86_400_000, () => calls.push("late"));
    const cancel = nodeTimers.after(1_000, () => calls.push("cancelled"));
    nodeTimers.after(-5, () => calls.push("at once"));
    cancel();

    jest.advanceTimersByTime(2_000);
    expect(calls).toEqual(["at once"]);
    jest.advanceTimersByTime(30 * 86_400_000);
    expect(calls).toEqual(["at once", "late"]);
    jest.useRealTimers();
  });
});

describe("the build", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "taskgate-build-"));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test("the build is the setting, else the file's, else 0", () => {
    const path = join(folder, "build-info.json");
    expect(resolveBuild({ build: null }, [path])).toBe(0);
    writeFileSync(path, '{ "build": 1769848201000 }');
    expect(resolveBuild({ build: null }, [path])).toBe(1_769_848_201_000);
    expect(resolveBuild({ build: 7 }, [path])).toBe(7);
  });

  test("the build of an app on the package is what `taskgate stamp` wrote beside its host.json", () => {
    const root = join(__dirname, "../../..");
    const code = `
      process.chdir(${JSON.stringify(folder)});
      const { stampCommand } = require(${JSON.stringify(join(root, "shared/cli/stamp.ts"))});
      const { resolveBuild } = require(${JSON.stringify(join(root, "shared/platform/build-info.ts"))});
      const before = resolveBuild();
      stampCommand.run({ isJson: false, folder: process.cwd(), output: { line: () => undefined } });
      process.stdout.write(JSON.stringify([before, resolveBuild()]));`;
    const swc = join(root, "test/support/register-swc.cjs");
    const beganAtMs = Date.now();
    const said = execFileSync(process.execPath, ["-r", swc, "-e", code], { cwd: root });
    const [before, after] = JSON.parse(String(said)) as [number, number];
    expect(before).toBe(0);
    expect(after).toBeGreaterThanOrEqual(beganAtMs);
    expect(after).toBeLessThanOrEqual(Date.now());
  });

  test.each(["", "{}", '{ "build": "7" }', '{ "build": -1 }', "[]"])(
    "a damaged file `%s` is refused",
    (text) => {
      const path = join(folder, "damaged.json");
      writeFileSync(path, text);
      expect(() => resolveBuild({ build: null }, [path])).toThrow(SettingsError);
    },
  );
});
