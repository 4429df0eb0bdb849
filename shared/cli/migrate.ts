import { invalidInput, isTextOf } from "../admin/object-reader";
import { keyRule } from "../admin/requests";
import { SchemaError } from "../core/errors";
import { requireSample } from "../local/load-sample";
import type { LocalSample } from "../local/sample";
import { realRandom, sleep } from "../platform/real-clock";
import { migrateStore, openStore, readStoreSchema } from "../store/open-store";
import type { DatabaseAddress, Grant } from "../store/open-store";
import { checkSchema } from "../store/migrator";
import { report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { ExitCode } from "./exit-codes";
import { storeAddress } from "./store-address";
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
    sample: {
      type: "boolean",
      sentence: "Makes the tables of the sample pipeline as well, in a schema of their own.",
    },
  },
  sentence:
    "Brings the database's schema up to this version; safe to run again, and by many at once.",
  details:
    "Run it with a login that owns the schema, before the new version of the app is deployed.",
  run: async (context) => {
    const given = context.options["grant"];
    const grant = given === undefined ? undefined : readGrant(given, context);
    if (!context.flags.has("check")) return migrate(context, grant);
    const expected = "no --check beside it, which changes nothing";
    if (context.flags.has("sample")) {
      throw invalidInput([{ field: "--sample", value: "set", expected }]);
    }
    if (grant === undefined) return check(context);
    throw invalidInput([{ field: "--grant", value: `\`${grant.name}\``, expected }]);
  },
};

async function migrate(context: CommandContext, grant: Grant | undefined): Promise<ExitCode> {
  const address = storeAddress(context.target().settings);
  const sample = context.flags.has("sample") ? requireSample() : undefined;
  const result = await migrateStore(address, grant === undefined ? {} : { grant });
  if (sample !== undefined) await setUpSample(sample, address);
  const extras = {
    ...(sample === undefined ? {} : { sample: sample.title }),
    ...(grant === undefined ? {} : { granted: grant }),
  };
  report(context, { ...result, ...extras }, () => {
    const isCurrent = result.applied.length === 0 && !result.isLogicRenewed;
    return [
      ...(isCurrent ? ["The schema is up to date; nothing was to do."] : []),
      ...result.applied.map((name) => `Applied ${name}.`),
      ...(result.isLogicRenewed ? ["Renewed procedures, views and rights."] : []),
      ...(sample === undefined ? [] : [`The tables of the sample are there (${sample.title}).`]),
      ...(grant === undefined
        ? []
        : [`${grant.name} may execute the procedures, and nothing else.`]),
    ].join("\n");
  });
  return exitCodes.ok;
}

async function setUpSample(sample: LocalSample, address: DatabaseAddress): Promise<void> {
  const store = openStore({ ...address, connectionsMax: 1, random: realRandom, sleep });
  try {
    await store.transaction((transaction) => sample.setUp(transaction));
  } finally {
    await store.close();
  }
}

async function check(context: CommandContext): Promise<ExitCode> {
  const { versions, scripts } = await readStoreSchema(storeAddress(context.target().settings));
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

/** `name:clientId` of an identity; PostgreSQL has no such users. The name itself may hold colons. */
function readGrant(text: string, context: CommandContext): Grant {
  const [, name = "", clientId = ""] = /^(.+):([^:]+)$/.exec(text) ?? [];
  const isClientId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(clientId);
  const value = `\`${text.slice(0, 100)}\``;
  if (!isClientId || !isTextOf(name, { ...keyRule, max: 128 })) {
    const expected = "NAME:CLIENTID, the name of an identity and its client id, a GUID";
    throw invalidInput([{ field: "--grant", value, expected }]);
  }
  const { database } = context.target().settings;
  if (database.kind === "url" && !database.url.startsWith("mssql:")) {
    const expected = "it on Azure SQL only; on PostgreSQL run `grant taskgate_worker to LOGIN`";
    throw invalidInput([{ field: "--grant", value, expected }]);
  }
  return { name, clientId };
}
