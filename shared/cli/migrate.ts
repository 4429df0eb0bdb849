import { invalidInput } from "../admin/object-reader";
import { SchemaError } from "../core/errors";
import { migrateStore, postgresScripts } from "../store/open-store";
import { checkSchema } from "../store/migrator";
import { withPostgresMigrations } from "../store/postgres/postgres-migrations";
import { report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { ExitCode } from "./exit-codes";
import { requireUrl } from "./store-address";
import { readVersion } from "./version";

/** `taskgate migrate` */
export const migrateCommand: Command = {
  name: "migrate",
  parameters: [],
  options: {
    check: {
      type: "boolean",
      sentence: "Changes nothing; ends with 1 when the schema doesn't fit this code.",
    },
    grant: {
      type: "string",
      valueName: "NAME:CLIENTID",
      sentence:
        "Azure SQL: makes the database user of an Entra identity that may execute the procedures.",
    },
  },
  sentence:
    "Brings the database's schema up to this version; safe to run again, and by many at once.",
  details:
    "Run it with a login that owns the schema, before the new version of the app is deployed.",
  run: async (context) => {
    const grant = context.options["grant"];
    if (grant !== undefined) refuseGrant(grant);
    return context.flags.has("check") ? check(context) : migrate(context);
  },
};

async function migrate(context: CommandContext): Promise<ExitCode> {
  const result = await migrateStore(address(context));
  report(context, result, () => {
    if (result.applied.length === 0 && !result.isLogicRenewed)
      return "The schema is up to date; nothing was to do.";
    const applied = result.applied.map((name) => `Applied ${name}.`);
    const logic = result.isLogicRenewed ? ["Renewed procedures, views and rights."] : [];
    return [...applied, ...logic].join("\n");
  });
  return exitCodes.ok;
}

async function check(context: CommandContext): Promise<ExitCode> {
  const scripts = postgresScripts();
  const versions = await withPostgresMigrations(address(context), (target) =>
    target.readVersions(),
  );
  const version = readVersion();
  const newest = Math.max(0, ...versions.map((row) => row.version));
  const problem = problemOf(() => {
    checkSchema(versions, scripts, version);
  });
  const isLogicCurrent =
    versions.find((row) => row.version === 0)?.checksum === scripts.logic.checksum;
  const isCurrent = problem === null && isLogicCurrent;
  const text =
    problem ??
    (isLogicCurrent
      ? `The schema is at version ${String(newest)} and fits Taskgate ${version}.`
      : "The procedures differ from this version's. Run `npx taskgate migrate`.");
  report(context, { isCurrent, schemaVersion: newest, codeVersion: version, text }, () => text);
  return isCurrent ? exitCodes.ok : exitCodes.failed;
}

function problemOf(body: () => void): string | null {
  try {
    body();
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
}

function address(context: CommandContext): { url: string; schema: string } {
  const { settings } = context.target();
  return { url: requireUrl(settings.database), schema: settings.schema };
}

/** `name:clientId` of an identity; PostgreSQL has no such users. */
function refuseGrant(grant: string): never {
  const value = `\`${grant.slice(0, 100)}\``;
  throw invalidInput([
    {
      field: "--grant",
      value,
      expected: "it on Azure SQL only; on PostgreSQL run `grant taskgate_worker to LOGIN`",
    },
  ]);
}
