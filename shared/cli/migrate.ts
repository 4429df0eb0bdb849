import { messageOf } from "../core/foreign-value";
import { invalidInput } from "../admin/read-result";
import { isTextOf } from "../admin/text-rule";
import { keyRule } from "../admin/schemas";
import { formatDuration } from "../core/duration";
import { SchemaError } from "../core/errors";
import { requireSample } from "../local/load-sample";
import type { LocalSample } from "../local/sample";
import { createAzureFirewall, isServerId } from "../platform/azure-firewall";
import type { AzureFirewall } from "../platform/azure-firewall";
import { realClock, realRandom, sleep } from "../platform/real-clock";
import { migrateStore, openStore, readStoreSchema } from "../store/open-store";
import type {
  DatabaseAddress,
  Grant,
  GrantedRoles,
  MigrationReport,
  Patience,
  StoreSchema,
} from "../store/open-store";
import { checkSchema, isLogicCurrent, newerThan, refuseEdited } from "../store/migrator";
import { report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { ExitCode } from "./exit-codes";
import { createMigrationProgress } from "./migration-progress";
import type { MigrationProgress } from "./migration-progress";
import { readTime, refusal } from "./read-values";
import { storeAddress } from "./store-address";
import { readVersion } from "../core/own-manifest";

const { monotonicMs } = realClock;

/** A change of a firewall acts after 5 minutes at most. */
const firewallWaitMs = 10 * 60_000;

/** `taskgate migrate` */
export const migrateCommand: Command = {
  name: "migrate",
  group: "deploy",
  worksOn: "the database itself",
  outlivesReader: true,
  parameters: [],
  options: {
    check: {
      sentence:
        "Changes nothing; exit code 1 when the schema doesn't fit this version, or an applied migration was edited.",
    },
    wait: {
      valueName: "TIME",
      sentence:
        "Azure SQL: tries again for this time (90s, 10m) while the server wakes up, is new or busy.",
    },
    "open-firewall": {
      valueName: "RESOURCE_ID",
      sentence:
        "Azure SQL: opens the server's firewall for this machine while the migration lasts; waits 10m for it.",
    },
    grant: {
      valueName: "NAME:CLIENTID",
      sentence:
        "Azure SQL: creates the database user of an Entra identity with the rights of a worker.",
    },
    role: {
      valueName: "NAME",
      isList: true,
      sentence: "Adds a role to the user of --grant, such as TaskgateOperator; takes none away.",
    },
    sample: {
      sentence: "Creates the tables of the sample pipeline, too, in a schema of their own.",
    },
  },
  sentence: "Creates or upgrades the schema in the database.",
  details: [
    "Safe to repeat, and to run from many places at once.",
    "It ends when it is done: --timeout ends no migration.",
    "Run it with a login that owns the schema, before the new version of the app is deployed.",
    "PostgreSQL: the login makes the roles taskgate_worker and taskgate_operator where the server lacks them, and needs CREATEROLE for it.",
  ].join("\n"),
  examples: [
    { line: "taskgate migrate", sentence: "Creates or upgrades the schema." },
    {
      line: "taskgate migrate --check",
      sentence: "For a pipeline: does the schema fit this version?",
    },
    {
      line: "taskgate migrate --wait 10m --grant app:6f1c2f6e-3f0d-4d6b-9a51-0d0f6b2f3c11",
      sentence: "Azure SQL: a new server, and the app's identity.",
    },
  ],
  run: async (context) => {
    const grant = readGrantOptions(context);
    const waitMs = readWait(context);
    if (!context.flags.has("check")) return migrate(context, { grant, waitMs });
    const expected = "no --check beside it, which changes nothing";
    for (const name of ["sample", "grant", "wait", "open-firewall"]) {
      const given = context.options[name];
      if (given === undefined && !context.flags.has(name)) continue;
      const value = given === undefined ? "set" : `\`${given.slice(0, 100)}\``;
      throw invalidInput([{ field: `--${name}`, value, expected }]);
    }
    return check(context);
  },
};

interface Asked {
  readonly grant: Grant | undefined;
  readonly waitMs: number | undefined;
}

async function migrate(context: CommandContext, { grant, waitMs }: Asked): Promise<ExitCode> {
  const address = storeAddress(context.target().settings);
  const sample = context.flags.has("sample") ? requireSample(context.folder) : undefined;
  const run = async (patience?: Patience): Promise<MigrationReport> => {
    const done = await migrateStore(address, {
      ...(grant === undefined ? {} : { grant }),
      ...(patience === undefined ? {} : { patience }),
    });
    if (sample !== undefined) await setUpSample(sample, address);
    return done;
  };
  const { isJson, output } = context;
  const progress = createMigrationProgress(output, { isJson, monotonicMs });
  const migrating = waitMs === undefined ? run() : patiently({ context, waitMs, progress }, run);
  const result = await migrating.finally(() => {
    progress.end();
  });
  const { granted, ...schema } = result;
  const extras = {
    ...(sample === undefined ? {} : { sample: sample.title }),
    ...(granted === undefined ? {} : { granted: { ...grant, ...granted } }),
  };
  report(context, { ...schema, ...extras }, () => {
    const { newer = [] } = result;
    const isCurrent = result.applied.length === 0 && !result.isLogicRenewed && newer.length === 0;
    return [
      ...(isCurrent ? ["The schema is up to date; nothing was to do."] : []),
      ...(newer.length === 0 ? [] : [describeNewer(newer)]),
      ...result.applied.map((name) => `Applied ${name}.`),
      ...(result.isLogicRenewed ? ["Renewed procedures, views and rights."] : []),
      ...(sample === undefined ? [] : [`The tables of the sample are there (${sample.title}).`]),
      ...(grant === undefined || granted === undefined ? [] : describeGrant(grant.name, granted)),
    ].join("\n");
  });
  return exitCodes.ok;
}

function describeNewer(names: readonly string[]): string {
  return `The schema is a newer release's (${names.join(", ")}) and serves this one; nothing was changed.`;
}

function describeGrant(name: string, granted: GrantedRoles): string[] {
  const { roles, otherRoles, lostRoles } = granted;
  return [
    `${name} is a member of ${roles.join(" and ")}.`,
    ...(otherRoles.length === 0
      ? []
      : [
          `It is also a member of ${otherRoles.join(", ")}, given by others; that stays. To take one away: ALTER ROLE [NAME] DROP MEMBER [${name}].`,
        ]),
    ...(lostRoles.length === 0
      ? []
      : [
          `The user was made anew for another client id and is no longer a member of ${lostRoles.join(", ")}: add them with --role where this identity is to have them.`,
        ]),
  ];
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
  const { versions, scripts, isIntact, ...named } = await readStoreSchema(
    storeAddress(context.target().settings),
  );
  const version = readVersion();
  const newest = Math.max(0, ...versions.map((row) => row.version));
  const problem = problemOf(() => {
    checkSchema(versions, { ...scripts, ...named }, version);
    refuseEdited(versions, scripts);
  });
  const work = problem ?? describeLogicWork({ versions, scripts, isIntact }, version);
  const isCurrent = work === null;
  const text = work ?? `The schema is at version ${String(newest)} and fits Taskgate ${version}.`;
  report(context, { isCurrent, schemaVersion: newest, codeVersion: version, text }, () => text);
  return isCurrent ? exitCodes.ok : exitCodes.failed;
}

/** What `migrate` would renew; null: nothing. The procedures of a newer release are its own. */
function describeLogicWork(
  schema: Pick<StoreSchema, "versions" | "scripts" | "isIntact">,
  ownVersion: string,
): string | null {
  const { versions, scripts, isIntact } = schema;
  if (newerThan(scripts, versions, ownVersion).length > 0) return null;
  if (!isLogicCurrent(versions, scripts))
    return "The procedures differ from this version's. Run `npx taskgate migrate`.";
  if (!isIntact)
    return "The roles lack rights, as after a dump was restored. Run `npx taskgate migrate`.";
  return null;
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

/** Repeats while the server refuses for now; opens its firewall where that was asked for, and closes it in any case. */
async function patiently(
  {
    context,
    waitMs,
    progress,
  }: { context: CommandContext; waitMs: number; progress: MigrationProgress },
  run: (patience: Patience) => Promise<MigrationReport>,
): Promise<MigrationReport> {
  const { isJson, output } = context;
  const firewall = openFirewall(context);
  const opened = new Set<string>();
  const patience: Patience = {
    waitMs,
    monotonicMs,
    sleep,
    onWait: ({ number, reason, waitedMs, pauseMs }) => {
      progress.pauses(pauseMs);
      const waited = `${formatDuration(waitedMs)} of ${formatDuration(waitMs)}`;
      progress.show(String(number), `Waiting, ${waited}: ${reason} (${String(number)}).`);
    },
    ...(firewall === null
      ? {}
      : {
          admit: async (address: string) => {
            if (opened.has(address)) return;
            opened.add(address);
            progress.show(address, `Opening the server's firewall for ${address} ..`);
            await firewall.admit(address);
          },
        }),
  };
  const close = firewall === null ? null : closeAtEnd(firewall);
  let result: MigrationReport;
  try {
    result = await run(patience);
  } catch (error) {
    progress.end();
    // The migration's own failure is the one to tell last.
    await close?.().catch((left: unknown) => {
      const message = messageOf(left);
      output.error(isJson ? JSON.stringify({ progress: message }) : `taskgate: ${message}`);
    });
    throw error;
  }
  progress.end();
  await close?.();
  return result;
}

function openFirewall(context: CommandContext): AzureFirewall | null {
  const serverId = context.options["open-firewall"];
  if (serverId === undefined) return null;
  const { resourceManagerUrl } = context.target().settings;
  return createAzureFirewall({ serverId, resourceManagerUrl, sleep });
}

/** An interrupted process closes what it has opened, too. Answers what to call at the end. */
function closeAtEnd(firewall: AzureFirewall): () => Promise<void> {
  const interrupt = (signal: NodeJS.Signals): void => {
    void firewall
      .close()
      .catch((error: unknown) => {
        process.stderr.write(`taskgate: ${error instanceof Error ? error.message : ""}\n`);
      })
      .finally(() => process.exit(signal === "SIGINT" ? 130 : 143));
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  return async () => {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
    await firewall.close();
  };
}

/** How long to wait at most; undefined: not at all. */
function readWait(context: CommandContext): number | undefined {
  const given = context.options["wait"];
  const serverId = context.options["open-firewall"];
  if (serverId !== undefined && !isServerId(serverId)) {
    const expected =
      "the resource id of an Azure SQL server: /subscriptions/../resourceGroups/../providers/Microsoft.Sql/servers/NAME";
    const value = `\`${serverId.slice(0, 200)}\``;
    throw invalidInput([{ field: "--open-firewall", value, expected }]);
  }
  if (given === undefined && serverId === undefined) return undefined;
  const waitMs = given === undefined ? firewallWaitMs : readTime("--wait", given, { max: "24h" });
  requireSqlServer(context, given === undefined ? "--open-firewall" : "--wait");
  return waitMs;
}

function readGrantOptions(context: CommandContext): Grant | undefined {
  const given = context.options["grant"];
  const roles = context.lists["role"] ?? [];
  if (given !== undefined) return { ...readGrant(given, context), roles: roles.map(readRole) };
  const [role] = roles;
  if (role === undefined) return undefined;
  const expected = "it with --grant NAME:CLIENTID, whose user gets the role";
  throw refusal("--role", role, expected);
}

function readRole(name: string): string {
  if (isTextOf(name, { ...keyRule, max: 128 })) return name;
  throw refusal("--role", name, "the name of a database role, 1..128 characters");
}

/** `name:clientId` of an identity; PostgreSQL has no such users. The name itself may hold colons. */
function readGrant(text: string, context: CommandContext): Pick<Grant, "name" | "clientId"> {
  const [, name = "", clientId = ""] = /^(.+):([^:]+)$/.exec(text) ?? [];
  const isClientId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(clientId);
  if (!isClientId || !isTextOf(name, { ...keyRule, max: 128 })) {
    const expected = "NAME:CLIENTID, the name of an identity and its client id, a GUID";
    throw refusal("--grant", text, expected);
  }
  requireSqlServer(context, "--grant");
  return { name, clientId };
}

function requireSqlServer(context: CommandContext, field: string): void {
  const { database } = context.target().settings;
  if (database.kind !== "url" || database.url.startsWith("mssql:")) return;
  const instead = field === "--grant" ? "; on PostgreSQL run `grant taskgate_worker to LOGIN`" : "";
  throw invalidInput([{ field, value: "set", expected: `it on Azure SQL only${instead}` }]);
}
