import type { Image } from "../storage/row";
import type { ColumnSchema } from "../storage/schema";
import type { ObjectName } from "../syntax/ast";
import type { SqlType } from "../values";
import type { SourceColumn } from "./bind/scope";
import type { CatalogObject } from "./catalog";
import type { Connection } from "./connection";
import { databaseCollation } from "./expression";
import { objectType } from "./functions/system-functions";
import { maySee, requireState } from "./rights";
import { bitType, intType, isText, sysname } from "./types";

/** The catalogue as the server shows it, as far as it is used. Read without locks. */
export interface SystemView {
  readonly columns: readonly SourceColumn[];
  readonly rows: (connection: Connection) => Iterable<Image>;
}

const code: SqlType = { name: "char", length: 2 };
const word: SqlType = { name: "nvarchar", length: 60 };

function columns(...shapes: [string, SqlType][]): SourceColumn[] {
  return shapes.map(([name, type]) => ({
    name,
    type,
    isNullable: true,
    collation: { ...databaseCollation, rank: "implicit" },
  }));
}

function schemaId(connection: Connection, object: { schema: string }): number {
  return connection.world.catalog.findSchema(object.schema)?.id ?? 0;
}

/** Names are shown only to users with a right to them. */
function seenBy(connection: Connection): CatalogObject[] {
  return [...connection.world.catalog.objects].filter((object) => maySee(object, connection));
}

function objectsOf(connection: Connection, keep: (object: CatalogObject) => boolean): Image[] {
  return seenBy(connection)
    .filter(keep)
    .map((object) => [
      object.name,
      object.id,
      schemaId(connection, object),
      objectType(object).padEnd(2),
    ]);
}

const objectColumns = columns(
  ["name", sysname],
  ["object_id", intType],
  ["schema_id", intType],
  ["type", code],
);

function objectView(keep: (object: CatalogObject) => boolean): SystemView {
  return { columns: objectColumns, rows: (connection) => objectsOf(connection, keep) };
}

function tableColumns(
  connection: Connection,
): { object: CatalogObject; column: ColumnSchema; place: number }[] {
  return seenBy(connection).flatMap((object) =>
    object.kind === "table"
      ? object.table.columns.map((column, place) => ({ object, column, place }))
      : [],
  );
}

const views: Readonly<Record<string, SystemView>> = {
  "sys.objects": objectView(() => true),
  "sys.tables": objectView((object) => object.kind === "table"),
  "sys.procedures": objectView((object) => object.kind === "procedure"),
  "sys.views": objectView((object) => object.kind === "view"),
  "sys.schemas": {
    columns: columns(["name", sysname], ["schema_id", intType]),
    rows: (connection) => [...connection.world.catalog.schemas].map(({ name, id }) => [name, id]),
  },
  "sys.sequences": {
    columns: columns(["name", sysname], ["object_id", intType], ["schema_id", intType]),
    rows: (connection) =>
      seenBy(connection)
        .filter((object) => object.kind === "sequence")
        .map((object) => [object.name, object.id, schemaId(connection, object)]),
  },
  "sys.types": {
    columns: columns(
      ["name", sysname],
      ["user_type_id", intType],
      ["schema_id", intType],
      ["is_table_type", bitType],
    ),
    rows: (connection) =>
      [...connection.world.catalog.types]
        .filter((type) => maySee(type, connection))
        .map((type) => [type.name, type.id, schemaId(connection, type), 1]),
  },
  "sys.indexes": {
    columns: columns(
      ["object_id", intType],
      ["name", sysname],
      ["index_id", intType],
      ["is_unique", bitType],
      ["is_primary_key", bitType],
      ["has_filter", bitType],
    ),
    rows: (connection) =>
      seenBy(connection).flatMap((object) =>
        object.kind === "table"
          ? object.table.indexes.map((index) => [
              object.id,
              index.name,
              index.place + 1,
              index.isUnique ? 1 : 0,
              index.constraint === "primaryKey" ? 1 : 0,
              index.filter === undefined ? 0 : 1,
            ])
          : [],
      ),
  },
  "sys.columns": {
    columns: columns(
      ["object_id", intType],
      ["name", sysname],
      ["column_id", intType],
      ["is_nullable", bitType],
      ["is_identity", bitType],
    ),
    rows: (connection) =>
      tableColumns(connection).map(({ object, column, place }) => [
        object.id,
        column.name,
        place + 1,
        column.isNullable ? 1 : 0,
        column.identity === undefined ? 0 : 1,
      ]),
  },
  "sys.databases": {
    columns: columns(
      ["name", sysname],
      ["database_id", intType],
      ["compatibility_level", { name: "tinyint" }],
      ["is_read_committed_snapshot_on", bitType],
      ["snapshot_isolation_state", { name: "tinyint" }],
      ["collation_name", sysname],
      ["containment", { name: "tinyint" }],
    ),
    rows: ({ world }) => [
      [
        world.databaseName,
        5,
        160,
        world.isVersioned ? 1 : 0,
        world.allowsSnapshot ? 1 : 0,
        databaseCollation.name,
        1,
      ],
    ],
  },
  "sys.database_principals": {
    columns: columns(
      ["name", sysname],
      ["principal_id", intType],
      ["type", { name: "char", length: 1 }],
      ["sid", { name: "varbinary", length: 85 }],
    ),
    rows: (connection) =>
      [...connection.world.catalog.security.principals].map(({ name, id, type, sid }) => [
        name,
        id,
        type,
        sid ?? null,
      ]),
  },
  "sys.database_role_members": {
    columns: columns(["role_principal_id", intType], ["member_principal_id", intType]),
    rows: (connection) =>
      connection.world.catalog.security
        .memberships()
        .map(({ role, member }) => [role.id, member.id]),
  },
  "sys.dm_tran_locks": {
    columns: columns(
      ["request_session_id", intType],
      ["request_mode", word],
      ["request_status", word],
      ["resource_type", word],
      ["resource_description", { name: "nvarchar", length: 256 }],
    ),
    rows: (connection) => {
      requireState(connection);
      return connection.world.locks.list().map(({ session, mode, resource, isGranted }) => {
        const [kind = "", ...rest] = resource.split(" ");
        const type = kind === "APP" ? "APPLICATION" : kind;
        return [session, mode, isGranted ? "GRANT" : "WAIT", type, rest.join(" ")];
      });
    },
  },
  "information_schema.tables": {
    columns: columns(
      ["TABLE_CATALOG", sysname],
      ["TABLE_SCHEMA", sysname],
      ["TABLE_NAME", sysname],
      ["TABLE_TYPE", { name: "varchar", length: 10 }],
    ),
    rows: (connection) =>
      seenBy(connection)
        .filter((object) => object.kind === "table" || object.kind === "view")
        .map((object) => [
          connection.world.databaseName,
          object.schema,
          object.name,
          object.kind === "table" ? "BASE TABLE" : "VIEW",
        ]),
  },
  "information_schema.columns": {
    columns: columns(
      ["TABLE_CATALOG", sysname],
      ["TABLE_SCHEMA", sysname],
      ["TABLE_NAME", sysname],
      ["COLUMN_NAME", sysname],
      ["ORDINAL_POSITION", intType],
      ["IS_NULLABLE", { name: "varchar", length: 3 }],
      ["DATA_TYPE", word],
      ["CHARACTER_MAXIMUM_LENGTH", intType],
      ["COLLATION_NAME", sysname],
    ),
    rows: (connection) =>
      tableColumns(connection).map(({ object, column, place }) => {
        const { type } = column;
        const length = isText(type) ? (type.length === "max" ? -1 : type.length) : null;
        return [
          connection.world.databaseName,
          object.schema,
          object.name,
          column.name,
          place + 1,
          column.isNullable ? "YES" : "NO",
          type.name,
          length,
          isText(type) ? column.collation : null,
        ];
      }),
  },
};

export function findSystemView(name: ObjectName): SystemView | undefined {
  return views[`${name.schema ?? ""}.${name.name}`.toLowerCase()];
}
