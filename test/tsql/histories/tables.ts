import { parseTokens } from "../../../shared/core/token";
import { canonicalText } from "./same";
import type { NameKind } from "./names";
import { Normalizer } from "./normalizer";
import type { Side } from "./side";
import type { StoreRow, StoreTables } from "./store-tables";

/** Rows that are equal on two stores whose histories were. */
export type NormalTables = Readonly<Record<string, readonly NormalRow[]>>;
export type NormalRow = Readonly<Record<string, string | null>>;

const idColumns: Readonly<Record<string, NameKind>> = {
  taskExecutionId: "execution",
  holdLockTaskExecutionId: "execution",
  taskId: "task",
  fence: "fence",
  callFence: "fence",
  batchId: "batch",
  waveId: "wave",
};

/** Numbers that only their table knows; rows are compared by everything else. */
const ownNumbers = new Set(["settingAuditId", "callAuditId"]);

/**
 * The stored answer of a call is text of each dialect's own making. What counts is what a repeat of the call gets: histories
 * repeat calls. Who locked a row last is written only to lock it. Over how many rows a wave's count is spread depends on the ids, which have gaps of their own in each store.
 */
const privateColumns = new Set([
  "operation.answer",
  "sharedLimit.holdLockTaskExecutionId",
  "taskDefinition.holdLockTaskExecutionId",
  "wave.openShards",
]);

/** In which ids are written in capitals somewhere, or that tell an instant. */
const toldColumns = new Set(["operationId", "payload"]);

/** Earlier than any history: migrations write it for what hasn't happened yet. */
const longAgoMs = Date.UTC(2001, 0, 1);

/** The normal form of all rows. */
export function normalTables(side: Side, tables: StoreTables): NormalTables {
  const naming = new RowNaming(side, tables);
  return Object.fromEntries(
    Object.entries(tables).map(([table, rows]) => [table, sorted(naming.rows(table, rows))]),
  );
}

/** Only what the other store has as well: the memory store has neither all tables nor all columns. */
export function restrictTo(tables: NormalTables, other: NormalTables): NormalTables {
  return Object.fromEntries(
    Object.entries(other).map(([table, otherRows]) => {
      const columns = new Set(otherRows.flatMap((row) => Object.keys(row)));
      const keep = ([column]: [string, unknown]): boolean =>
        otherRows.length === 0 || columns.has(column);
      const rows = (tables[table] ?? []).map((row) =>
        Object.fromEntries(Object.entries(row).filter(keep)),
      );
      return [table, sorted(rows)];
    }),
  );
}

function sorted(rows: readonly NormalRow[]): NormalRow[] {
  const keyed = rows.map((row) => ({ row, key: canonicalText(row) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ row }) => row);
}

class RowNaming {
  readonly #side: Side;
  readonly #normalizer: Normalizer;
  readonly #definitions: ReadonlyMap<string, string>;
  readonly #groups: ReadonlyMap<string, string>;
  readonly #sharedLimits: ReadonlyMap<string, string>;
  readonly #schedules: ReadonlyMap<string, string>;

  constructor(side: Side, tables: StoreTables) {
    this.#side = side;
    this.#normalizer = new Normalizer(side);
    this.#definitions = new Map([
      ["0", "all definitions"],
      ...(tables["taskDefinition"] ?? []).map(
        (row) => [text(row["taskDefinitionId"]), text(row["name"])] as const,
      ),
    ]);
    this.#groups = new Map(
      (tables["taskGroup"] ?? []).map((row) => {
        const scope = this.#definitions.get(text(row["taskDefinitionId"])) ?? "nobody";
        return [text(row["groupId"]), `${text(row["groupKey"])} of ${scope}`];
      }),
    );
    this.#sharedLimits = new Map(
      (tables["sharedLimit"] ?? []).map((row) => [text(row["sharedLimitId"]), text(row["name"])]),
    );
    this.#schedules = new Map(
      (tables["schedule"] ?? []).map((row) => {
        const definition = this.#definitions.get(text(row["taskDefinitionId"])) ?? "nobody";
        return [text(row["scheduleId"]), `${text(row["name"])} of ${definition}`];
      }),
    );
  }

  rows(table: string, rows: readonly StoreRow[]): NormalRow[] {
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(row)
          .filter(([column]) => !ownNumbers.has(column))
          .filter(([column]) => !privateColumns.has(`${table}.${column}`))
          .map(([column, value]) => [column, this.#value(column, value)]),
      ),
    );
  }

  #value(column: string, value: unknown): string | null {
    if (value === null || value === undefined) return null;
    if (value instanceof Date) {
      if (value.getTime() < longAgoMs) return "long ago";
      return `start + ${String(value.getTime() - this.#side.startMs)} ms`;
    }
    const plain = text(value);
    const kind = idColumns[column];
    if (kind !== undefined) return plain === "0" ? "nobody" : this.#nameOf(kind, plain);
    if (column === "taskDefinitionId") return this.#definitions.get(plain) ?? `unknown ${plain}`;
    if (column === "lastGroupId" && plain === "0") return "none";
    if (column === "lastGroupId") return this.#groups.get(plain) ?? "a removed group";
    if (column === "groupId") return this.#groups.get(plain) ?? `unknown ${plain}`;
    if (column === "sharedLimitId") return this.#sharedLimits.get(plain) ?? `unknown ${plain}`;
    if (column === "scheduleId") return this.#schedules.get(plain) ?? `unknown ${plain}`;
    if (column === "executionTokens") return this.#tokens(plain);
    if (column === "callRefused") return this.#taskList(plain);
    if (column === "taskIds") return this.#taskList((JSON.parse(plain) as string[]).join(","));
    // A caller without a name is known by its login.
    if (column === "changedBy") return plain.replace(/^sql:.*$/, "sql:login");
    return toldColumns.has(column) ? this.#normalizer.message(plain) : plain;
  }

  /** An execution that got no tokens in the end isn't told of; its number is each store's own. */
  #nameOf(kind: NameKind, id: string): string {
    const name = this.#side.names.nameOf(kind, id);
    return kind === "execution" && name.startsWith("an untold") ? "an untold execution" : name;
  }

  /** Ids of tokens are chance; whose they are and in what order isn't. */
  #tokens(tokens: string): string {
    const list = parseTokens(tokens);
    if (new Set(list.map((token) => token.id.toLowerCase())).size < list.length) return tokens;
    return list
      .map(({ isHeld, grantee }) => {
        const whose = grantee === "0" ? "nobody" : this.#nameOf("execution", grantee);
        return `${isHeld ? "held" : "free"} ${whose}`;
      })
      .join(", ");
  }

  #taskList(joined: string): string {
    if (joined === "") return "";
    return joined
      .split(",")
      .map((id) => this.#nameOf("task", id))
      .join(",");
  }
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") {
    return String(value);
  }
  throw new Error(`A row holds ${JSON.stringify(value)}, which no column of the tables can`);
}
