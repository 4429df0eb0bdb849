import type { BuiltinName } from "../../syntax/ast";
import type { SqlType, SqlValue } from "../../values";
import type { CatalogObject } from "../catalog";
import type { Connection } from "../connection";
import type { Scalar } from "../expression";
import { apply, scalarOf } from "../expression";
import type { SqlError } from "../sql-error";
import { roundToDatetime } from "../instants";
import { SimulationError } from "../sql-error";
import { maySee } from "../rights";
import { intType, sysname } from "../types";
import type { BindFunction } from "./builtins";
import { asText } from "./text-functions";

/** Functions about the session, the transaction, the catalogue and the clock. */

function constant(type: SqlType, read: (connection: Connection) => SqlValue): BindFunction {
  return () => scalarOf({ type }, (frame) => read(frame.connection));
}

/** Of the error that the innermost CATCH is about. */
function ofError(type: SqlType, read: (error: SqlError) => SqlValue): BindFunction {
  return constant(type, (connection) => {
    const error = connection.caught.at(-1);
    return error === undefined ? null : read(error);
  });
}

function ofTexts(
  type: SqlType,
  read: (connection: Connection, texts: readonly (string | null)[]) => SqlValue,
): BindFunction {
  return (parts) => {
    const texts = parts.map((_part, place) => asText(parts, place));
    return apply({ type }, texts, (values, frame) =>
      read(
        frame.connection,
        values.map((value) => (value === null ? null : String(value))),
      ),
    );
  };
}

/** `schema.name`, either of them in brackets. */
export function splitName(text: string): { schema: string | undefined; name: string } {
  const parts = text.match(/\[(?:[^\]]|\]\])*\]|[^.]+/g) ?? [];
  const [first = "", second] = parts
    .slice(-2)
    .map((part) => (part.startsWith("[") ? part.slice(1, -1).replaceAll("]]", "]") : part));
  return second === undefined
    ? { schema: undefined, name: first }
    : { schema: first, name: second };
}

/** Codes of sys.objects. */
export function objectType(object: CatalogObject): string {
  switch (object.kind) {
    case "table":
      return "U";
    case "procedure":
      return "P";
    case "view":
      return "V";
    case "sequence":
      return "SO";
    case "function":
      return object.definition.result.kind === "scalar" ? "FN" : "IF";
  }
}

function objectId(connection: Connection, texts: readonly (string | null)[]): SqlValue {
  const [name, type] = texts;
  if (name === null || name === undefined) return null;
  const object = connection.world.catalog.find(splitName(name));
  if (object === undefined || !maySee(object, connection)) return null;
  return type === null || type === undefined || type.trim().toUpperCase() === objectType(object)
    ? object.id
    : null;
}

const properties: Readonly<Record<string, string>> = {
  edition: "SQL Azure",
  engineedition: "5",
  productversion: "12.0.2000.8",
  productmajorversion: "12",
  collation: "SQL_Latin1_General_CP1_CI_AS",
  servername: "simulated",
};

function serverProperty(_connection: Connection, texts: readonly (string | null)[]): SqlValue {
  return properties[(texts[0] ?? "").toLowerCase()] ?? null;
}

function databaseProperty(connection: Connection, texts: readonly (string | null)[]): SqlValue {
  const { world } = connection;
  switch ((texts[1] ?? "").toLowerCase()) {
    case "isreadcommittedsnapshoton":
      return world.isVersioned ? "1" : "0";
    case "isoptimizedlockingon":
      return world.options.hasOptimizedLocking ? "1" : "0";
    case "collation":
      return properties["collation"] ?? null;
    case "updateability":
      return "READ_WRITE";
    case "edition":
      return "GeneralPurpose";
    default:
      return null;
  }
}

/** [doc: HAS_PERMS_BY_NAME]: 1 or 0, NULL for what isn't there or of no class that is known here. */
function hasPermission(connection: Connection, texts: readonly (string | null)[]): SqlValue {
  if (connection.isOwner) return 1;
  const { catalog } = connection.world;
  const [name, securable, right] = texts;
  if (name === null || name === undefined) return 0;
  const isType = securable?.toUpperCase() === "TYPE";
  const found = isType ? catalog.findType(splitName(name)) : catalog.find(splitName(name));
  if (found === undefined || (!isType && securable?.toUpperCase() !== "OBJECT")) return null;
  const about = { ...found, owner: catalog.ownerOf(found.schema) };
  const isAllowed = catalog.security.allows(connection.user, (right ?? "").toUpperCase(), {
    ...about,
    class: isType ? "type" : "object",
  });
  return isAllowed ? 1 : 0;
}

function xactState(connection: Connection): number {
  if (connection.transactionCount === 0) return 0;
  return connection.isDoomed ? -1 : 1;
}

function principalId(connection: Connection, texts: readonly (string | null)[]): SqlValue {
  const name = texts.length === 0 ? connection.user : texts[0];
  if (name === null || name === undefined) return null;
  return connection.world.catalog.security.find(name)?.id ?? null;
}

/** Of a login by name, or the connection's own; NULL where there is none. */
function loginId(connection: Connection, texts: readonly (string | null)[]): SqlValue {
  const name = texts.length === 0 ? connection.login : texts[0];
  if (name === null || name === undefined) return null;
  const { security } = connection.world.catalog;
  if (security.findLogin(name) === undefined && name !== connection.login) return null;
  return security.userOf(name)?.id ?? 1;
}

function readClock(connection: Connection): bigint {
  connection.observe(`clock ${String(connection.world.nowTicks)}`);
  return connection.world.nowTicks;
}

const appLock = (): Scalar => {
  throw new SimulationError("APPLOCK_MODE and APPLOCK_TEST aren't modelled");
};

export const systemFunctions: Partial<Record<BuiltinName, BindFunction>> = {
  APPLOCK_MODE: appLock,
  APPLOCK_TEST: appLock,
  DATABASEPROPERTYEX: ofTexts(sysname, databaseProperty),
  DATABASE_PRINCIPAL_ID: ofTexts(intType, principalId),
  DB_ID: constant({ name: "smallint" }, () => 5),
  DB_NAME: constant(sysname, (connection) => connection.world.databaseName),
  ERROR_LINE: ofError(intType, (error) => error.line),
  ERROR_MESSAGE: ofError({ name: "nvarchar", length: 4000 }, (error) => error.message),
  ERROR_NUMBER: ofError(intType, (error) => error.number),
  ERROR_PROCEDURE: ofError(sysname, (error) => (error.procedure === "" ? null : error.procedure)),
  ERROR_SEVERITY: ofError(intType, (error) => error.class),
  ERROR_STATE: ofError(intType, (error) => error.state),
  GETDATE: constant({ name: "datetime" }, (connection) => roundToDatetime(readClock(connection))),
  GETUTCDATE: constant({ name: "datetime" }, (connection) =>
    roundToDatetime(readClock(connection)),
  ),
  HAS_PERMS_BY_NAME: ofTexts(intType, hasPermission),
  OBJECT_ID: ofTexts(intType, objectId),
  OBJECT_NAME: (parts) =>
    apply(
      { type: sysname },
      parts,
      ([id], frame) => frame.connection.world.catalog.findById(Number(id))?.name ?? null,
    ),
  ORIGINAL_LOGIN: constant(sysname, (connection) => connection.login),
  SCHEMA_ID: ofTexts(intType, (connection, texts) => {
    const name = texts.length === 0 ? "dbo" : (texts[0] ?? "");
    return connection.world.catalog.findSchema(name)?.id ?? null;
  }),
  SCHEMA_NAME: (parts) =>
    apply({ type: sysname }, parts, ([id], frame) => {
      if (id === undefined) return "dbo";
      return (
        [...frame.connection.world.catalog.schemas].find((schema) => schema.id === Number(id))
          ?.name ?? null
      );
    }),
  SCOPE_IDENTITY: constant(
    { name: "decimal", precision: 38, scale: 0 },
    (connection) => connection.lastIdentity,
  ),
  SERVERPROPERTY: ofTexts(sysname, serverProperty),
  SUSER_ID: ofTexts(intType, loginId),
  SUSER_SNAME: constant(sysname, (connection) => connection.login),
  SYSDATETIME: constant({ name: "datetime2", scale: 7 }, readClock),
  SYSUTCDATETIME: constant({ name: "datetime2", scale: 7 }, readClock),
  TYPE_ID: ofTexts(intType, (connection, texts) => {
    const type = connection.world.catalog.findType(splitName(texts[0] ?? ""));
    return type === undefined || !maySee(type, connection) ? null : type.id;
  }),
  USER_NAME: constant(sysname, (connection) => connection.user),
  XACT_STATE: constant({ name: "smallint" }, xactState),
};
