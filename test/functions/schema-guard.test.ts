import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { AppProcess } from "../../shared/functions/runtime";
import { SchemaGuard } from "../../shared/functions/schema-guard";
import { SchemaError, StoreUnavailableError } from "../../shared/core/errors";
import type { LogFields } from "../../shared/ports/logger";
import { checkStoreSchema, migrateStore } from "../../shared/store/open-store";
import { createEmptyDatabase, rowsOf } from "../migration/empty-database";

/** A guard with a clock that is moved by hand, before a database that answers what `answers` says, one after the other. */
function setUp(answers: readonly (Error | "fits")[]) {
  const guard = new SchemaGuard();
  const time = { nowMs: 0 };
  const asked: number[] = [];
  const logged: string[] = [];
  const quiet = (): void => undefined;
  const options = {
    check: () => {
      const answer = answers[asked.length];
      asked.push(time.nowMs);
      return answer === "fits" ? Promise.resolve() : Promise.reject(answer ?? new Error("asked"));
    },
    clock: { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs },
    logger: {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: (_: string, fields?: LogFields) => void logged.push(String(fields?.["error"])),
    },
  };
  return { time, asked, logged, guard, options, pass: () => guard.pass(options) };
}

const tooOld = new SchemaError("TASKGATE_SCHEMA_TOO_OLD", "too old: migrate");
const tooNew = new SchemaError("TASKGATE_SCHEMA_TOO_NEW", "too new: deploy");
const away = new StoreUnavailableError("away");

describe("the guard", () => {
  test("the guard asks once when the schema fits", async () => {
    const { asked, logged, pass } = setUp(["fits"]);
    for (let call = 0; call < 5; call += 1) await pass();
    expect(asked).toHaveLength(1);
    expect(logged).toEqual([]);
  });

  test("the guard refuses every call with the same error, logs it once, and asks again after 10 s", async () => {
    const { time, asked, logged, pass } = setUp([tooOld, tooOld, tooNew, "fits"]);
    for (time.nowMs = 0; time.nowMs < 20_000; time.nowMs += 1_000) {
      await expect(pass()).rejects.toBe(tooOld);
    }
    expect(asked).toEqual([0, 10_000]);
    await expect(pass()).rejects.toBe(tooNew);
    expect(logged).toEqual(["too old: migrate", "too new: deploy"]);
    time.nowMs = 30_000;
    await pass();
    await pass();
    expect(asked).toHaveLength(4);
  });

  test("a database that can't be reached decides nothing: the next call asks again", async () => {
    const { asked, logged, pass } = setUp([away, "fits"]);
    await expect(pass()).rejects.toBe(away);
    await pass();
    expect(asked).toHaveLength(2);
    expect(logged).toEqual([]);
  });
});

describe("the functions' start", () => {
  const app = new AppProcess({ tasks: [] });
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    process.env["TASKGATE_DATABASE_URL"] = database.url;
    process.env["TASKGATE_LOG_LEVEL"] = "error";
  });
  afterAll(async () => {
    await app.end();
    delete process.env["TASKGATE_DATABASE_URL"];
    delete process.env["TASKGATE_LOG_LEVEL"];
    await database.drop();
  });

  test("every invocation on a database without the schema ends with one error that says what to run; the database is asked once", async () => {
    const connects = async (): Promise<number> => {
      const [row] = await rowsOf<{ n: number }>(
        database.url,
        "select sessions::int as n from pg_stat_database where datname = current_database()",
      );
      return row?.n ?? 0;
    };
    const written: string[] = [];
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (text: string | Uint8Array) => written.push(String(text)) > 0;
    let ran = 0;
    const invoke = () => app.tracked(() => Promise.resolve((ran += 1)));
    const seen = [];
    try {
      for (let call = 0; call < 20; call += 1) seen.push(await invoke().catch((e: unknown) => e));
    } finally {
      process.stderr.write = write;
    }

    expect(ran).toBe(0);
    expect(seen[0]).toMatchObject({
      code: "TASKGATE_SCHEMA_MISSING",
      message: expect.stringMatching(
        /^The database `empty_[0-9a-f]+` at `[^`]+` has no Taskgate schema\. Run `npx taskgate migrate`\.$/,
      ),
    });
    expect(new Set(seen).size).toBe(1);
    expect(written.filter((line) => line.includes("npx taskgate migrate"))).toHaveLength(1);
    expect(await connects()).toBeLessThan(5);
  });

  test("the same process may work once the schema is migrated, without a restart", async () => {
    const { time, options, guard } = setUp([]);
    const check = () => checkStoreSchema({ url: database.url });
    const pass = () => guard.pass({ ...options, check });
    await expect(pass()).rejects.toMatchObject({ code: "TASKGATE_SCHEMA_MISSING" });
    await migrateStore({ url: database.url });
    await expect(pass()).rejects.toMatchObject({ code: "TASKGATE_SCHEMA_MISSING" });
    time.nowMs = 10_000;
    await expect(pass()).resolves.toBeUndefined();
  });
});
