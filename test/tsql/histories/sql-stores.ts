import { toCamelCase } from "../../../shared/store/operations/operation";
import type { StoreSetup, TestStore } from "../../support/store-setup";
import type { HistoryStore } from "./side";
import type { StoreRow, StoreTables } from "./store-tables";

/** Calls of one history take turns on so many. */
export const connectionCount = 3;

/** Tables whose rows histories don't make. */
const ownTables = new Set(["schemaVersion", "number", "testClock"]);

/** An empty store over SQL; its clock must stand still. */
export async function openSqlStore(
  setup: StoreSetup,
  connections = connectionCount,
): Promise<HistoryStore> {
  const opened = await setup.open();
  const isPostgres = setup.dialect === "postgres";
  return {
    title: isPostgres ? "PostgreSQL" : "T-SQL",
    isWhole: true,
    connections: (await setup.connect?.(connections)) ?? [opened.store],
    now: async () => (await opened.now()).getTime(),
    advance: (ms) => opened.advance(ms),
    requestCancel: (taskId) => opened.requestCancel(taskId),
    readTables: async () => {
      const dialect = isPostgres ? postgresDialect : mssqlDialect;
      const columns = knownColumns.get(setup) ?? (await readColumns(opened, dialect));
      knownColumns.set(setup, columns);
      const tables = await readRows(opened, dialect, columns);
      return withRemaining(
        isPostgres ? withClaims(tables) : withoutHomes(withOneText(withPositions(tables))),
      );
    },
  };
}

interface Dialect {
  /** Rows of `table` and `column`, in the order of columns. */
  readonly columns: string;
  select(table: string, columns: readonly string[]): string;
}

const postgresDialect: Dialect = {
  columns: `select c.table_name as "table", c.column_name as "column"
              from information_schema.columns c
              join information_schema.tables t using (table_schema, table_name)
             where c.table_schema = 'taskgate' and t.table_type = 'BASE TABLE'
               and c.table_name <> 'archive_pack'
             order by c.table_name, c.ordinal_position`,
  select: (table, columns) =>
    `select ${columns.join(", ")} from taskgate.${table === "archive" ? "archived" : table}`,
};

const mssqlDialect: Dialect = {
  columns: `SELECT c.TABLE_NAME AS [table], c.COLUMN_NAME AS [column]
              FROM INFORMATION_SCHEMA.COLUMNS AS c
             INNER JOIN INFORMATION_SCHEMA.TABLES AS t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
             WHERE c.TABLE_SCHEMA = N'Taskgate' AND t.TABLE_TYPE = N'BASE TABLE'
             ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`,
  select: (table, columns) =>
    `SELECT ${columns.map(mssqlColumn).join(", ")} FROM Taskgate.[${table}]`,
};

/** The endpoint sends varchar in a code page, as the driver reads it. */
function mssqlColumn(column: string): string {
  return column.endsWith("Utf8")
    ? `CONVERT(nvarchar(max), [${column}]) AS [${column}]`
    : `[${column}]`;
}

/** Names of columns by table. */
type Columns = ReadonlyMap<string, readonly string[]>;

/** They stay as they are, for any store that a setup opens. */
const knownColumns = new WeakMap<StoreSetup, Columns>();

async function readColumns(opened: TestStore, dialect: Dialect): Promise<Columns> {
  const columns = new Map<string, string[]>();
  for (const row of await opened.raw(dialect.columns)) {
    const table = String(row["table"]);
    if (ownTables.has(toCamelCase(table))) continue;
    columns.set(table, [...(columns.get(table) ?? []), String(row["column"])]);
  }
  return columns;
}

async function readRows(
  opened: TestStore,
  dialect: Dialect,
  columns: Columns,
): Promise<StoreTables> {
  const tables: Record<string, StoreRow[]> = {};
  for (const [table, names] of columns) {
    const rows = await opened.raw(dialect.select(table, names));
    tables[toCamelCase(table)] = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [toCamelCase(key), value])),
    );
  }
  return tables;
}

/** PostgreSQL: the arrays of an execution are its claims, in claim order. */
function withClaims(tables: StoreTables): StoreTables {
  const claim: StoreRow[] = [];
  const taskExecution = (tables["taskExecution"] ?? []).map(
    ({ inflight, inflightFence, inflightAt, prefetched, ...row }) => {
      for (const [index, taskId] of listOf(inflight).entries()) {
        claim.push({
          taskExecutionId: row["taskExecutionId"],
          position: index + 1,
          taskId,
          fence: listOf(inflightFence)[index],
          claimedAt: listOf(inflightAt)[index],
          isPrefetched: listOf(prefetched).includes(taskId),
        });
      }
      return row;
    },
  );
  return { ...tables, taskExecution, claim };
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`Expected an array of claims, got ${String(value)}`);
  return value as readonly unknown[];
}

/** T-SQL: claim order is the order of the key, not the number in it. */
function withPositions(tables: StoreTables): StoreTables {
  const counts = new Map<string, number>();
  const claim = [...(tables["claim"] ?? [])]
    .sort(
      (a, b) =>
        Number(a["fence"]) - Number(b["fence"]) || Number(a["ordinal"]) - Number(b["ordinal"]),
    )
    .map((row) => {
      const execution = String(row["taskExecutionId"]);
      const position = (counts.get(execution) ?? 0) + 1;
      counts.set(execution, position);
      const others = Object.entries(row).filter(([column]) => column !== "ordinal");
      return { ...Object.fromEntries(others), position };
    });
  return { ...tables, claim };
}

/** T-SQL: a text is in its new column, or, in a row of before, in the old one; a definition's tokens are rows, with a count beside them. */
function withOneText({ token = [], ...tables }: StoreTables): StoreTables {
  const taskDefinition = (tables["taskDefinition"] ?? []).map((row) => {
    const { tokenList, heldCount, tokenStamp, ...rest } = row;
    if (rest["executionTokens"] !== "rows") return rest;
    const own = token.filter((one) => one["taskDefinitionId"] === rest["taskDefinitionId"]);
    const held = own.filter((one) => Number(one["heldBy"]) !== 0).length;
    if (held !== heldCount || tokenList !== null || tokenStamp === undefined)
      throw new Error(`${String(heldCount)} tokens are counted, ${String(held)} are held`);
    return { ...rest, executionTokens: tokenText(own) };
  });
  const merged = Object.entries(tables).map(([name, rows]) => [name, rows.map(withOwnText)]);
  return { ...(Object.fromEntries(merged) as StoreTables), taskDefinition };
}

function tokenText(rows: readonly StoreRow[]): string {
  return [...rows]
    .sort((a, b) => Number(a["ord"]) - Number(b["ord"]))
    .map(({ tokenId, heldBy, lastHeldBy }) => {
      const isHeld = Number(heldBy) !== 0;
      const grantee = isHeld ? heldBy : lastHeldBy;
      return `I:${String(tokenId).toLowerCase()},S:${isHeld ? "0" : "1"},G:${String(grantee)}`;
    })
    .join(",");
}

/** T-SQL: the row of a task that is done stays as its payload's home. Nothing else of it may be left. */
function withoutHomes(tables: StoreTables): StoreTables {
  const ids = new Set((tables["archive"] ?? []).map(({ taskId }) => String(taskId)));
  const homes = new Map<string, StoreRow>();
  const task = (tables["task"] ?? []).filter((row) => {
    if (!ids.has(String(row["taskId"]))) return true;
    homes.set(String(row["taskId"]), row);
    return false;
  });
  const archive = (tables["archive"] ?? []).map((row) => {
    const home = homes.get(String(row["taskId"]));
    if (home === undefined) return row;
    const left = ["groupId", "pendingGroupKey", "waveId", "checkpoint", "lastError"].filter(
      (column) => home[column] !== null,
    );
    if (row["outcome"] !== 10 || row["payload"] !== null || left.length > 0)
      throw new Error(`${JSON.stringify(home)} is left behind ${JSON.stringify(row)}`);
    return { ...row, payload: home["payload"] };
  });
  return { ...tables, task, archive };
}

/** `payload` and its like from `payloadUtf8`: only rows of before have one in the old column. */
function withOwnText(row: StoreRow): StoreRow {
  const texts = Object.entries(row).filter(([column]) => column.endsWith("Utf8"));
  const rest = Object.entries(row).filter(([column]) => !column.endsWith("Utf8"));
  const own = texts.map(([column, text]): readonly [string, unknown] => {
    const old = column.slice(0, -"Utf8".length);
    if (row[old] !== null) throw new Error(`${old} of ${JSON.stringify(row)} was written`);
    return [old, text];
  });
  return Object.fromEntries<unknown>([...rest, ...own]);
}

/** A wave's count is spread over rows by task id: what they say together counts. */
function withRemaining(tables: StoreTables): StoreTables {
  const sums = new Map<string, number>();
  for (const row of tables["waveShard"] ?? []) {
    const wave = String(row["waveId"]);
    sums.set(wave, (sums.get(wave) ?? 0) + Number(row["remaining"]));
  }
  const waveShard = [...sums]
    .filter(([, remaining]) => remaining !== 0)
    .map(([waveId, remaining]) => ({ waveId, remaining }));
  return { ...tables, waveShard };
}
