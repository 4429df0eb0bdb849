import { BatchConnection } from "./batch-connection";
import type { VerifyStep } from "./step";

const what = "deadlocks while the product ran";

/** What the server had counted when the product began, and when that was. */
interface Mark {
  readonly count: number | undefined;
  readonly at: string;
}

/**
 * Two steps around those in which only the product runs: the server's own count of deadlocks must not move. Litmus tests,
 * which make deadlocks on purpose, come before.
 */
export function deadlockSteps(): { readonly before: VerifyStep; readonly after: VerifyStep } {
  let mark: Mark | undefined;
  const common = { name: "deadlocks", share: 0, meansNothingSimulated: true } as const;
  return {
    before: {
      ...common,
      run: async ({ place }) => {
        if (!place.isSimulated) mark = await withConnection(place.url, readMark);
        return [];
      },
    },
    after: {
      ...common,
      run: async ({ place }) => {
        const from = mark;
        if (place.isSimulated || from === undefined) {
          const summary = "the endpoint has no deadlock monitor and keeps no graphs";
          return [{ what, status: "skipped", summary, details: [] }];
        }
        const { count } = await withConnection(place.url, readMark);
        if (count === undefined || from.count === undefined) {
          const summary = "the login may not see the server's counters (VIEW SERVER STATE)";
          return [{ what, status: "skipped", summary, details: [] }];
        }
        const grown = count - from.count;
        if (grown === 0) {
          const summary = "none: the server's count of deadlocks didn't move";
          return [{ what, status: "passed", summary, details: [] }];
        }
        const graphs = await withConnection(place.url, (connection) =>
          readGraphs(connection, from.at),
        );
        const own = graphs?.filter(isOfProduct) ?? [];
        const isOwn = graphs === undefined || own.length > 0;
        return [
          {
            what,
            status: isOwn ? "failed" : "told",
            summary: `${String(grown)} on the server; ${
              graphs === undefined
                ? "its graphs (system_health) can't be read, so they may be others'"
                : `${String(own.length)} graphs name the product`
            }`,
            details: own,
          },
        ];
      },
    },
  };
}

async function readMark(connection: BatchConnection): Promise<Mark> {
  const { rows, errors } = await connection.run(
    `SELECT c.cntr_value AS Deadlocks, CONVERT(nvarchar(30), SYSUTCDATETIME(), 126) AS At
     FROM sys.dm_os_performance_counters AS c
     WHERE c.counter_name = N'Number of Deadlocks/sec' AND c.instance_name = N'_Total';`,
  );
  const [count, at] = rows[0] ?? [];
  const isKnown = errors.length === 0 && typeof count === "number";
  return { count: isKnown ? count : undefined, at: String(at) };
}

/** Graphs since an instant, from the session that every server keeps; undefined: the login may not read its files. */
async function readGraphs(
  connection: BatchConnection,
  since: string,
): Promise<string[] | undefined> {
  const { rows, errors } = await connection.run(
    `SELECT CONVERT(nvarchar(max), f.event_data) AS Graph
     FROM sys.fn_xe_file_target_read_file(N'system_health*.xel', NULL, NULL, NULL) AS f
     WHERE f.object_name = N'xml_deadlock_report'
       AND CONVERT(datetime2(3), f.timestamp_utc) >= CONVERT(datetime2(3), N'${since}');`,
  );
  return errors.length > 0 ? undefined : rows.map(([graph]) => String(graph));
}

/** The product's connections call themselves `taskgate`, those of litmus tests otherwise. */
function isOfProduct(graph: string): boolean {
  return graph.includes('clientapp="taskgate"');
}

async function withConnection<Result>(
  url: string,
  body: (connection: BatchConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await BatchConnection.open(url, "taskgate verify");
  try {
    return await body(connection);
  } finally {
    await connection.close();
  }
}
