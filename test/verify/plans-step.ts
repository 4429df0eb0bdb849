import { operations } from "../../shared/store/operations";
import { toPascalCase } from "../../shared/store/operations/operation";
import { BatchConnection } from "./batch-connection";
import { callEveryOperation, fullRun } from "./every-operation";
import { findScans, isIntended } from "./plan-scans";
import type { StepRow } from "./result";
import type { VerifyStep } from "./step";

const what = "no scan in any procedure";

/** Reads the plans that the server made for the procedures, over tables with some thousands of rows. */
export const plansStep: VerifyStep = {
  name: "plans",
  share: 0.05,
  meansNothingSimulated: true,
  run: async ({ place, say }) => {
    const connection = await BatchConnection.open(place.url, "taskgate verify");
    try {
      if (!place.isSimulated) await forgetPlans(connection);
      say("calling every operation");
      await callEveryOperation(place, fullRun);
      if (place.isSimulated) {
        const summary = "every operation ran; the endpoint has no optimizer and no plans";
        return [{ what, status: "skipped", summary, details: [] }];
      }
      say("reading plans");
      return [judge(await readPlans(connection))];
    } finally {
      await connection.close();
    }
  },
};

interface ProcedurePlan {
  readonly procedure: string;
  readonly xml: string;
}

/** Plans that were made while tables were empty say nothing. */
async function forgetPlans(connection: BatchConnection): Promise<void> {
  const { rows } = await connection.must(
    `SELECT o.name AS Name FROM sys.objects AS o
     WHERE o.schema_id = SCHEMA_ID(N'Taskgate') AND o.type IN ('P', 'FN', 'IF');`,
  );
  for (const [name] of rows) {
    await connection.must(`EXEC sys.sp_recompile N'Taskgate.${String(name)}';`);
  }
  await connection.must("EXEC sys.sp_updatestats;");
}

/** Those that ran, from the cache; where the login may not look there (VIEW SERVER STATE), estimated ones. */
async function readPlans(connection: BatchConnection): Promise<ProcedurePlan[]> {
  const { rows, errors } = await connection.run(
    `SELECT o.name AS Name, p.query_plan AS QueryPlan
     FROM (SELECT s.object_id, s.plan_handle FROM sys.dm_exec_procedure_stats AS s WHERE s.database_id = DB_ID()
           UNION ALL
           SELECT s.object_id, s.plan_handle FROM sys.dm_exec_function_stats AS s WHERE s.database_id = DB_ID()) AS s
     INNER JOIN sys.objects AS o ON o.object_id = s.object_id
     CROSS APPLY sys.dm_exec_text_query_plan(s.plan_handle, 0, -1) AS p
     WHERE o.schema_id = SCHEMA_ID(N'Taskgate') AND p.query_plan IS NOT NULL;`,
  );
  if (errors.length === 0) {
    return rows.map(([name, xml]) => ({ procedure: String(name), xml: String(xml) }));
  }
  return estimatePlans(connection);
}

async function estimatePlans(connection: BatchConnection): Promise<ProcedurePlan[]> {
  const plans: ProcedurePlan[] = [];
  const { errors } = await connection.run("SET SHOWPLAN_XML ON;");
  if (errors.length > 0) return plans;
  try {
    for (const { name: operation, parameters } of Object.values(operations)) {
      const procedure = toPascalCase(operation);
      const values = parameters.map(([name]) => `@${toPascalCase(name)} = NULL`);
      const { rows } = await connection.must(`EXEC Taskgate.${procedure} ${values.join(", ")};`);
      plans.push(...rows.map(([xml]) => ({ procedure, xml: String(xml) })));
    }
  } finally {
    await connection.must("SET SHOWPLAN_XML OFF;");
  }
  return plans;
}

function judge(plans: readonly ProcedurePlan[]): StepRow {
  if (plans.length === 0) {
    const summary =
      "the login may see neither the plan cache (VIEW SERVER STATE) nor estimated plans (SHOWPLAN)";
    return { what, status: "skipped", summary, details: [] };
  }
  const scans = plans.flatMap(({ procedure, xml }) =>
    findScans(xml).map((scan) => ({ procedure, scan })),
  );
  const faults = scans.filter(({ procedure, scan }) => !isIntended(procedure, scan));
  const procedures = new Set(plans.map(({ procedure }) => procedure));
  const missing = Object.keys(operations)
    .map(toPascalCase)
    .filter((name) => !procedures.has(name));
  const unseen = missing.length === 0 ? "" : `; no plan of ${missing.join(", ")}`;
  return {
    what,
    status: faults.length > 0 ? "failed" : missing.length > 0 ? "incomplete" : "passed",
    summary: `${String(procedures.size)} procedures, ${String(faults.length)} scans that nobody intended, ${String(scans.length - faults.length)} that their files say${unseen}`,
    details: faults.map(
      ({ procedure, scan }) =>
        `${procedure}: ${scan.operator} of ${scan.table} ${scan.index}\n${scan.statement}`,
    ),
  };
}
