import { fullName } from "../storage/schema";
import type { ObjectName } from "../syntax/ast";
import type { RestartSequence, ReseedIdentity } from "../syntax/ast-definitions";
import { printName } from "./catalog";
import type { SequenceObject, TableObject } from "./catalog";
import type { Connection } from "./connection";
import type { Undo } from "./definition-names";
import { fitsInteger, isIntegerName } from "./numbers";
import { mayAlter, ownsSchema } from "./rights";
import { SqlError } from "./sql-error";

/*
 * Numbers that begin anew. Both statements are undone with their transaction, which no document says. NEXT VALUE FOR doesn't wait
 * here for a restart that isn't committed: there the model is the more permissive one.
 */

/** ALTER on the sequence or its schema; else it is as if there were none [doc: ALTER SEQUENCE, Permissions; error 15151]. */
export function requireRestart(name: ObjectName, connection: Connection): SequenceObject {
  const object = connection.world.catalog.find(name);
  if (object?.kind === "sequence" && mayAlter(object, connection)) return object;
  throw new SqlError(
    15151,
    `Cannot alter the sequence '${name.name}', because it does not exist or you do not have permission.`,
  );
}

/** The next number is the given one, whatever is cached: the cache is made anew [doc: ALTER SEQUENCE, RESTART]. */
export function restartSequence(
  statement: RestartSequence,
  connection: Connection,
  undo: Undo,
): void {
  const sequence = requireRestart(statement.name, connection);
  const { name } = sequence.type;
  if (!isIntegerName(name) || !fitsInteger(statement.value, name)) {
    throw new SqlError(
      11708,
      "An invalid value was specified for argument 'RESTART WITH' for the given data type.",
    );
  }
  undo(connection.world.restartSequence(sequence, statement.value));
}

/** Who owns the schema, or the database; no right that is granted will do [doc: DBCC CHECKIDENT, Permissions; errors 2501, 2557]. */
export function requireReseed(name: ObjectName, connection: Connection): TableObject {
  const object = connection.world.catalog.find(name);
  if (object?.kind !== "table") {
    throw new SqlError(
      2501,
      `Cannot find a table or object with the name "${printName(name)}". Check the system catalog.`,
      { state: 45 },
    );
  }
  if (ownsSchema(object, connection)) return object;
  throw new SqlError(
    2557,
    `User '${connection.user}' does not have permission to run DBCC CHECKIDENT for object '${object.name}'.`,
    { class: 14 },
  );
}

/**
 * The number becomes the current one, so the next row gets one step more; the first row of a table that was made or truncated
 * and has got none since gets the number itself [doc: DBCC CHECKIDENT, Remarks]. The message tells what was current before.
 */
export function reseedIdentity(
  statement: ReseedIdentity,
  connection: Connection,
  undo: Undo,
): void {
  const { table, name } = requireReseed(statement.table, connection);
  const column = table.columns.find(({ identity }) => identity !== undefined);
  if (column?.identity === undefined)
    throw new SqlError(7997, `'${name}' does not contain an identity column.`);
  const type = column.type.name;
  if (!isIntegerName(type) || !fitsInteger(statement.value, type)) {
    throw new SqlError(2560, "Parameter 3 is incorrect for this DBCC statement.", { state: 9 });
  }
  const { world } = connection;
  const { increment } = column.identity;
  const data = world.data(table);
  const before = data.nextIdentity;
  const current = data.hasGivenIdentity ? String(before - increment) : "NULL";
  world.recorder?.draws(`identity of ${fullName(table)}`);
  data.nextIdentity = data.hasGivenIdentity ? statement.value + increment : statement.value;
  undo(() => {
    world.data(table).nextIdentity = before;
  });
  const answer = connection.requireAnswer();
  const text = `Checking identity information: current identity value '${current}'.`;
  answer.information({ number: 7998, text, class: 10, state: 1 });
  answer.information({
    ...{ number: 2528, class: 10, state: 1 },
    text: "DBCC execution completed. If DBCC printed error messages, contact your system administrator.",
  });
}
