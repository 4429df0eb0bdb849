import { InvalidArgumentError } from "../../core/errors";
import { mapMssqlError } from "./mssql-errors";
import type { Lease } from "./mssql-pool";

/** An Entra identity and what it may do. */
export interface Grant {
  /** Name of the database user to make: the identity's. */
  readonly name: string;
  /** Client id of a managed identity (its application id, not its object id). */
  readonly clientId: string;
  /** Roles to add beside TaskgateWorker; none is ever taken away. */
  readonly roles: readonly string[];
}

/** The role of every worker. */
export const workerRole = "TaskgateWorker";

/** What the identity's user is a member of. */
export interface GrantedRoles {
  /** Asked for. */
  readonly roles: readonly string[];
  /** Given by others; they stay. */
  readonly otherRoles: readonly string[];
  /** Of a user of that name for a deleted identity, which was made anew: they are gone, and can be asked for again. */
  readonly lostRoles: readonly string[];
}

interface RoleRow {
  readonly RoleName: string;
}

/** Runs `text` (grant_user.sql) for each role. */
export async function grantUser(lease: Lease, grant: Grant, text: string): Promise<GrantedRoles> {
  checkGrant(grant);
  const statement = withoutValues(text);
  const wanted = [...new Set([workerRole, ...grant.roles])];
  let present: string[] = [];
  const lost = new Set<string>();
  for (const role of wanted) {
    const answer = await addRole(lease, { ...grant, role }, statement);
    present = answer.present;
    for (const name of answer.lost) lost.add(name);
  }
  // The server compares names as the database's collation does: what it shows is what it has.
  const isWanted = (name: string): boolean =>
    wanted.some((role) => role.toLowerCase() === name.toLowerCase());
  return {
    roles: present.filter(isWanted),
    otherRoles: present.filter((name) => !isWanted(name)),
    lostRoles: [...lost].filter((name) => !isWanted(name)),
  };
}

function checkGrant(grant: Grant): void {
  const names = [
    { what: "identity's name", name: grant.name },
    ...grant.roles.map((name) => ({ what: "role's name", name })),
  ];
  for (const { what, name } of names) {
    if (name !== "" && name.length <= 128) continue;
    throw new InvalidArgumentError(
      `Expected the ${what} to have 1..128 characters, got \`${name.slice(0, 100)}\``,
    );
  }
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(grant.clientId)) {
    throw new InvalidArgumentError(
      `Expected the identity's client id to be a UUID, got \`${grant.clientId.slice(0, 100)}\``,
    );
  }
}

const valueLines =
  /^DECLARE @(?:IdentityName|ClientIdText|RoleName) \w+(?:\(\d+\))? = N'<?\w+>?';\n/gm;

/**
 * `text` (grant_user.sql) without the values that are filled in by hand: it takes them as parameters of the same names.
 * @throws Error unless each of the three values is declared in a line of its own
 */
export function withoutValues(text: string): string {
  const found = text.match(valueLines)?.length ?? 0;
  if (found !== 3) {
    throw new Error(
      `Expected grant_user.sql to declare 3 values in lines of their own, found ${found}`,
    );
  }
  return text.replace(valueLines, "");
}

async function addRole(
  lease: Lease,
  { name, clientId, role }: Pick<Grant, "name" | "clientId"> & { role: string },
  text: string,
): Promise<{ present: string[]; lost: string[] }> {
  const { driver } = lease;
  const request = lease
    .request()
    .input("IdentityName", driver.NVarChar(128), name)
    .input("ClientIdText", driver.NVarChar(36), clientId)
    .input("RoleName", driver.NVarChar(128), role);
  try {
    const result = await lease.run(() => request.query<[RoleRow, RoleRow]>(text));
    const [present, lost] = result.recordsets;
    return {
      present: present.map((row) => row.RoleName),
      lost: lost.map((row) => row.RoleName),
    };
  } catch (error) {
    const mapped = mapMssqlError(error, "undone");
    if (mapped.isRetryable) throw mapped;
    throw new InvalidArgumentError(
      `The user ${name} can't be made or made a member of ${role}: ${mapped.message}`,
      { cause: error },
    );
  }
}
