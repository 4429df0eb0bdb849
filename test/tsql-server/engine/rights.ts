import type { Connection } from "./connection";
import type { CatalogObject, TypeObject } from "./catalog";
import type { Securable } from "./security";
import { refusedRight } from "./security";
import { SqlError } from "./sql-error";
import type { TableScan } from "./table-scan";

/**
 * The rights that a statement needs of its caller. An object that a module reaches of its own owner needs none [doc: Ownership
 * chains]; a type always is: EXECUTE is needed to declare a variable of a table type, wherever that stands [doc: User-defined
 * table types, Security; Stack Overflow 2244217: 229 for a procedure's parameter, by a user who may execute the procedure].
 */
export interface Need extends Securable {
  readonly right: string;
  readonly class: "object" | "type";
  /** Of a read: the target of a write is only read where a column of it is. */
  readonly scan?: TableScan;
}

/** Without those that the statement turned out not to have. */
export function settledNeeds(needs: readonly Need[]): Need[] {
  return needs.filter(
    ({ scan }) => scan === undefined || !scan.isTarget || scan.binding.read.size > 0,
  );
}

/** Error 229 for the first one that is missing. */
export function requireRights(needs: readonly Need[], connection: Connection): void {
  if (needs.length === 0 || connection.isOwner) return;
  const { catalog, databaseName } = connection.world;
  const refused = needs.find((need) => !catalog.security.allows(connection.user, need.right, need));
  if (refused !== undefined) throw refusedRight(refused.right, refused, databaseName);
}

/** A procedure that is called by a batch, or by a module of another owner (`caller`). */
export function requireExecute(
  object: CatalogObject,
  caller: string | undefined,
  connection: Connection,
): void {
  if (connection.isOwner) return;
  const owner = connection.world.catalog.ownerOf(object.schema);
  if (owner === caller) return;
  const { id, schema, name } = object;
  requireRights([{ right: "EXECUTE", class: "object", id, schema, name, owner }], connection);
}

/** ALTER on the object, or on its schema. */
export function mayAlter(object: CatalogObject, connection: Connection): boolean {
  return connection.world.catalog.security.allows(
    connection.user,
    "ALTER",
    securableOf(object, connection),
  );
}

/** What owners alone may do; the server's fixed roles besides db_owner aren't modelled. */
export function ownsSchema(object: CatalogObject, connection: Connection): boolean {
  if (connection.isOwner) return true;
  const { security } = connection.world.catalog;
  const { owner } = securableOf(object, connection);
  return security.rolesOf(connection.user).has(owner.toLowerCase());
}

const visible = ["SELECT", "EXECUTE", "INSERT", "UPDATE", "DELETE", "REFERENCES", "ALTER"];

/** Names are shown to those who have some right there [doc: Metadata visibility configuration]. */
export function maySee(object: CatalogObject | TypeObject, connection: Connection): boolean {
  if (connection.isOwner) return true;
  const { catalog } = connection.world;
  const about = securableOf(object, connection);
  return visible.some((right) => catalog.security.allows(connection.user, right, about));
}

function securableOf(
  object: CatalogObject | TypeObject,
  connection: Connection,
): Securable & { class: "object" | "type" } {
  const { id, schema, name } = object;
  const owner = connection.world.catalog.ownerOf(schema);
  return { id, schema, name, owner, class: "kind" in object ? "object" : "type" };
}

/** What shows other sessions [doc: sys.dm_tran_locks, Permissions]. */
export function requireState(connection: Connection): void {
  if (connection.isOwner) return;
  throw new SqlError(
    262,
    `VIEW DATABASE STATE permission denied in database '${connection.world.databaseName}'.`,
    { class: 14 },
  );
}
