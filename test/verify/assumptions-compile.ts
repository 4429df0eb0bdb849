import type { Assumption, Fault, Finding } from "./assumption";
import { cleaning, expecting, judged } from "./assumption";
import { BatchConnection } from "./batch-connection";
import type { StepContext } from "./step";

/*
 * Assumptions about what a server refuses when it compiles, and about sessions: scripts over objects of their own in the
 * schema of the litmus tests. The expected outcomes are those of Microsoft's documents.
 */

/** A script, with the statements that take away what it made. */
interface Script {
  readonly cleanUp: (schema: string) => readonly string[];
  readonly play: (run: Run, schema: string) => Promise<Finding>;
}

type Run = (sql: string) => ReturnType<BatchConnection["run"]>;

async function play({ place }: StepContext, script: Script): Promise<Finding> {
  const connection = await BatchConnection.open(place.url, "taskgate verify");
  const schema = place.litmusSchema;
  try {
    return await cleaning(connection, script.cleanUp(schema), () =>
      script.play((sql) => connection.run(sql), schema),
    );
  } finally {
    await connection.close();
  }
}

const inlineOrder: Script = {
  cleanUp: (schema) => [`DROP FUNCTION IF EXISTS ${schema}.v1a;`],
  play: async (run, schema) => {
    const answer = await run(
      `CREATE FUNCTION ${schema}.v1a () RETURNS TABLE AS RETURN SELECT b.x FROM ${schema}.v1b() AS b;`,
    );
    return judged("error 208: order.txt is needed", [
      expecting(answer, "an inline function over one that isn't there", { errors: [208] }),
    ]);
  },
};

const collations: Script = {
  cleanUp: (schema) => [`DROP PROCEDURE IF EXISTS ${schema}.v2;`],
  play: async (run, schema) => {
    const procedure = (second: string): string =>
      `CREATE OR ALTER PROCEDURE ${schema}.v2 AS
       DECLARE @t TABLE (a nvarchar(9) COLLATE Latin1_General_100_BIN2, b nvarchar(9));
       SELECT LEFT(f.d, 5) AS x FROM (SELECT a AS d FROM @t UNION ALL SELECT LEFT(b, 5)${second} FROM @t) AS f;`;
    const bare = [
      ...(await run(procedure(""))).errors,
      ...(await run(`EXEC ${schema}.v2;`)).errors,
    ];
    const made = await run(procedure(" COLLATE Latin1_General_100_BIN2"));
    const isConflict = bare.some((number) => [446, 449, 451, 457, 468].includes(number));
    const faults: Fault[] = [
      isConflict ? undefined : `two collations met without an error: ${JSON.stringify(bare)}`,
      expecting(made, "with COLLATE in each branch, made", {}),
      expecting(await run(`EXEC ${schema}.v2;`), "with COLLATE in each branch, run", {}),
    ];
    return judged(`error ${String(bare[0])} without COLLATE, none with it`, faults);
  },
};

const label: Script = {
  cleanUp: (schema) => [
    `DROP FUNCTION IF EXISTS ${schema}.v3f;`,
    `DROP TABLE IF EXISTS ${schema}.v3t;`,
  ],
  play: async (run, schema) => {
    const use = `DECLARE @v nvarchar(max); SELECT @v = STRING_AGG(CONVERT(nvarchar(max), N'x' + f.n + N'y' + f.s), N',') FROM ${schema}.v3f() AS f;`;
    const make = (as: string): string =>
      `CREATE OR ALTER FUNCTION ${schema}.v3f () RETURNS TABLE AS RETURN SELECT n, ${as} AS s FROM ${schema}.v3t;`;
    const faults = [
      expecting(
        await run(
          `CREATE TABLE ${schema}.v3t (n nvarchar(9) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);`,
        ),
        "the table",
        {},
      ),
      expecting(
        await run(make("N'code' COLLATE Latin1_General_100_BIN2")),
        "the function with COLLATE",
        {},
      ),
      expecting(await run(use), "its column beside one of the table", {}),
    ];
    await run(make("N'code'"));
    const { errors } = await run(use);
    const bare =
      errors.length === 0 ? "is taken without it, too" : `is ${errors.join(", ")} without`;
    return judged(`COLLATE on the function's literal is enough; the literal ${bare}`, faults);
  },
};

const types: Script = {
  cleanUp: (schema) => [
    "REVERT;",
    `DROP PROCEDURE IF EXISTS ${schema}.v4;`,
    `DROP TYPE IF EXISTS ${schema}.v4t;`,
    "DROP USER IF EXISTS TaskgateVerifyUser;",
  ],
  play: async (run, schema) => {
    const call = `EXECUTE AS USER = 'TaskgateVerifyUser'; EXEC ${schema}.v4; REVERT;`;
    const setUp = [
      `CREATE TYPE ${schema}.v4t AS TABLE (i int NOT NULL PRIMARY KEY);`,
      `CREATE PROCEDURE ${schema}.v4 AS BEGIN DECLARE @x ${schema}.v4t; SELECT COUNT(*) AS n FROM @x; END;`,
      "CREATE USER TaskgateVerifyUser WITHOUT LOGIN;",
      `GRANT EXECUTE ON OBJECT::${schema}.v4 TO TaskgateVerifyUser;`,
    ];
    const faults: Fault[] = [];
    for (const sql of setUp) faults.push(expecting(await run(sql), sql, {}));
    faults.push(expecting(await run(call), "without EXECUTE on the type", { errors: [229] }));
    await run("REVERT;");
    await run(`GRANT EXECUTE ON TYPE::${schema}.v4t TO TaskgateVerifyUser;`);
    faults.push(expecting(await run(call), "with it", { rows: [[0]] }));
    return judged("error 229 until EXECUTE on the type is granted", faults);
  },
};

const settings: Script = {
  cleanUp: (schema) => [`DROP PROCEDURE IF EXISTS ${schema}.v6;`],
  play: async (run, schema) => {
    const faults = [
      expecting(
        await run(
          `CREATE PROCEDURE ${schema}.v6 AS BEGIN SET LOCK_TIMEOUT 2000; SET DEADLOCK_PRIORITY LOW; END;`,
        ),
        "the procedure",
        {},
      ),
      expecting(
        await run(
          `EXEC ${schema}.v6; SELECT @@LOCK_TIMEOUT AS t, s.deadlock_priority AS p FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID;`,
        ),
        "the session afterwards",
        { rows: [[-1, 0]] },
      ),
    ];
    return judged("LOCK_TIMEOUT and DEADLOCK_PRIORITY are the caller's again", faults);
  },
};

export const compileAssumptions: Readonly<Record<1 | 2 | 3 | 4 | 6, Assumption>> = {
  1: {
    what: "1 inline functions are bound when they are made",
    run: (context) => play(context, inlineOrder),
  },
  2: {
    what: "2 two collations that meet in UNION ALL are refused",
    serverOnly: "the model merges no collations",
    run: (context) => play(context, collations),
  },
  3: {
    what: "3 a literal's collation through an inline function",
    serverOnly: "the model merges no collations",
    run: (context) => play(context, label),
  },
  4: {
    what: "4 a chain of one owner covers no types",
    run: (context) => play(context, types),
  },
  6: {
    what: "6 SET options end with the procedure",
    serverOnly: "sys.dm_exec_sessions isn't imitated",
    run: (context) => play(context, settings),
  },
};
