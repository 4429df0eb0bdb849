// Goal: what infra/ says can be deployed, is wired to the program, and keeps to the house's rules.
// Method: a syntax tree by the Bicep grammar, the official resource types from infra/schema, and own
// rules; each rule must find its broken sample. No compiler runs here: a file that passes may still
// be refused by "bicep build" or by Azure.
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { Cron } from "croner";
import { readAzureYaml } from "./bicep/azure-yaml";
import { checkParameterFile, evaluate, type ParameterFile } from "./bicep/bicepparam";
import { capacityPlans, computeCapacity, readAlwaysReady } from "./bicep/capacity";
import { checkBicepFile, type CheckContext } from "./bicep/check-file";
import { readDocument, type BicepDocument } from "./bicep/document";
import { describeFaults, type Fault } from "./bicep/fault";
import { lineOf, loadParser, propertyOf } from "./bicep/parser";
import { mutations } from "./bicep/mutations";
import { readAppSettings } from "./bicep/policy";
import { loadResourceTypes } from "./bicep/resource-types";

const rootDirectory = join(__dirname, "..", "..");
const moduleFiles = readdirSync(join(rootDirectory, "infra", "modules")).map(
  (name) => `infra/modules/${name}`,
);
const bicepFiles = ["infra/main.bicep", ...moduleFiles];
const parameterFiles = readdirSync(join(rootDirectory, "infra", "env")).map(
  (name) => `infra/env/${name}`,
);
const brokenDirectory = "test/static/bicep/broken";
const brokenFiles = readdirSync(join(rootDirectory, brokenDirectory)).filter((name) =>
  /\.bicep(param)?$/.test(name),
);

let context: CheckContext;

function readRepositoryFile(file: string): string | undefined {
  const path = join(rootDirectory, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function open(file: string): BicepDocument {
  return readDocument(file, context.parse(readRepositoryFile(file) ?? ""));
}

function check(file: string): readonly Fault[] {
  return file.endsWith(".bicepparam")
    ? checkParameterFile(file, context).faults
    : checkBicepFile(file, context);
}

function openParameters(file: string): ParameterFile {
  const { faults, content } = checkParameterFile(file, context);
  if (content === undefined) {
    throw new Error(describeFaults(faults));
  }
  return content;
}

function settingsText(): string {
  const text = readRepositoryFile("shared/settings/settings.ts");
  if (text === undefined) {
    throw new Error("shared/settings/settings.ts is missing: nothing to compare settings with");
  }
  return text;
}

/** Names of the settings the program knows, read from its table as text. */
function knownSettings(): readonly string[] {
  const names = [...settingsText().matchAll(/\bname:\s*["'`]([A-Za-z][A-Za-z0-9_]*)["'`]/g)];
  return names.map(([, name]) => name ?? "");
}

/** Default of a setting, read from the same table. */
function settingDefault(name: string): string {
  const entry = new RegExp(`\\bname:\\s*["'\`]${name}["'\`][^}]*?\\bdefault:\\s*([^\\s,]+),`);
  const found = entry.exec(settingsText())?.[1];
  if (found === undefined) {
    throw new Error(`shared/settings/settings.ts has no default of ${name}`);
  }
  return found.replace(/^["'`]|["'`]$/g, "");
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

beforeAll(async () => {
  const parse = await loadParser();
  const types = loadResourceTypes(join(rootDirectory, "infra", "schema", "types.json"));
  context = { parse, types, read: readRepositoryFile, opened: new Map() };
});

describe("bicep compiler: not available - syntax and type checks only", () => {
  test.each(bicepFiles)("%s", (file) => {
    expect(describeFaults(checkBicepFile(file, context))).toBe("");
  });

  test.each(parameterFiles)("%s", (file) => {
    expect(describeFaults(check(file))).toBe("");
  });

  test("every module is used by main.bicep", () => {
    const used = open("infra/main.bicep").modules.map((module) => `infra/${module.target}`);
    expect([...used].sort()).toEqual([...moduleFiles].sort());
  });
});

describe("the checks find what is broken", () => {
  test("there are enough samples", () => {
    expect(brokenFiles.length).toBeGreaterThanOrEqual(20);
  });

  test.each(brokenFiles)("%s", (name) => {
    const file = `${brokenDirectory}/${name}`;
    const expected = /^\/\/ expect: (\S+) (.+)$/m.exec(readRepositoryFile(file) ?? "");
    const faults = check(file);
    const rules = [...new Set(faults.map((fault) => fault.rule))];
    expect({ file, rules }).toEqual({ file, rules: [expected?.[1]] });
    expect(describeFaults(faults)).toContain(expected?.[2]);
  });

  test.each(bicepFiles)("every misspelt property of %s", (file) => {
    const text = readRepositoryFile(file) ?? "";
    const missed = mutations(context.parse(text), text).filter((mutation) => {
      const read = (other: string): string | undefined =>
        other === file ? mutation.text : readRepositoryFile(other);
      return checkBicepFile(file, { ...context, read }).length === 0;
    });
    expect(missed.map(({ line, name }) => `${file}:${String(line)} ${name}`)).toEqual([]);
  });
});

describe("contract with the program", () => {
  test("settings written by Bicep are known to the code", () => {
    const known = knownSettings();
    const site = open("infra/modules/functions.bicep").resources.find((resource) =>
      resource.target.startsWith("Microsoft.Web/sites@"),
    );
    const written = site === undefined ? [] : readAppSettings(site).map(({ name }) => name);
    const own = written.filter((name) => /^(TASKGATE_|AZURE_)/.test(name));
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((name) => !known.includes(name))).toEqual([]);
  });

  test("TASKGATE_ names in azd's environment are known to the code, which refuses others", () => {
    const outputs = open("infra/main.bicep").outputs.map((output) => output.name);
    const read = parameterFiles.flatMap((file) => openParameters(file).environment);
    const own = [...outputs, ...read].filter((name) => name.startsWith("TASKGATE_"));
    const known = knownSettings();
    expect(own.filter((name) => !known.includes(name))).toEqual([]);
  });

  test("queues are those that the functions listen to", () => {
    const queues = open("infra/main.bicep").variables.find(({ name }) => name === "queueNames");
    const names = ["TASKGATE_HINT_QUEUE", "TASKGATE_INGEST_QUEUE"].map(settingDefault);
    const wanted = names.flatMap((name) => [name, `${name}-poison`]);
    expect(queues === undefined ? undefined : evaluate(queues.value)).toEqual(wanted);
  });

  test("azure.yaml: paths exist, hooks read outputs, both shells run the same command", () => {
    const azure = readAzureYaml(readRepositoryFile("azure.yaml") ?? "");
    expect(parameterFiles).toContain(`${azure.infraPath}/${azure.infraModule}.bicepparam`);
    const outputs = open("infra/main.bicep").outputs.map((output) => output.name);
    expect(azure.hooks.map(({ name }) => name)).toContain("postprovision");
    for (const hook of azure.hooks) {
      expect(hook.variables.filter((name) => !outputs.includes(name))).toEqual([]);
      expect(hook.windows).toEqual(hook.posix);
    }
    const site = open("infra/modules/functions.bicep").root.text;
    expect(site).toContain(`'azd-service-name': '${azure.serviceName}'`);
  });

  test("package: node_modules ships, because the build is local", () => {
    expect(readRepositoryFile(".funcignore") ?? "").not.toMatch(/^\/?node_modules\/?$/m);
    expect(readRepositoryFile("azure.yaml")).toMatch(/^ +remoteBuild: false$/m);
  });
});

describe.each(parameterFiles)("environment %s", (file) => {
  const name = /(\w+)\.bicepparam$/.exec(file)?.[1] ?? "";

  test("the database bears all that the platform may start", () => {
    const plan = capacityPlans[name];
    if (plan === undefined) {
      throw new Error(`test/static/bicep/capacity.ts has no plan for ${name}`);
    }
    const connectionsPerInstance = Number(settingDefault("TASKGATE_CONNECTIONS_MAX"));
    const { values } = openParameters(file);
    const capacity = computeCapacity(values, { ...plan, connectionsPerInstance });
    expect(capacity.connectionsMax).toBeLessThanOrEqual(capacity.connectionsAllowed);
    expect(capacity.busyWorkersMax).toBeLessThanOrEqual(capacity.busyWorkersAllowed);
    const readme = (readRepositoryFile("infra/README.md") ?? "").replace(/ +/g, " ");
    const connections = `${capacity.connectionsMax} of ${capacity.connectionsAllowed}`;
    const workers = `${capacity.busyWorkersMax} of ${capacity.busyWorkersAllowed}`;
    expect(readme).toContain(`| ${name} | ${plan.tokensMax} | ${connections} | ${workers} |`);
  });

  test("the sweep's schedule can be read, and is frequent enough for the alerts", () => {
    const { values } = openParameters(file);
    const schedule = values.get("sweepSchedule");
    const cron = new Cron(typeof schedule === "string" ? schedule : "", { timezone: "UTC" });
    const [first, second] = cron.nextRuns(2);
    const minutes = ((second?.getTime() ?? NaN) - (first?.getTime() ?? NaN)) / 60_000;
    expect(minutes).toBeGreaterThan(0);
    if (values.get("hasAlerts") === true) {
      expect(minutes).toBeLessThanOrEqual(5);
    }
    const pauseMinutes = Number(values.get("sqlAutoPauseMinutes"));
    if (pauseMinutes > 0) {
      // A tick that comes sooner than the pause keeps the database awake and paid for.
      expect(minutes).toBeGreaterThan(2 * pauseMinutes);
    }
  });

  test("the free offer and pausing are for serverless, which they are for only", () => {
    const { values } = openParameters(file);
    const isServerless = values.get("sqlSkuName") === "GP_S_Gen5";
    const pauses = Number(values.get("sqlAutoPauseMinutes")) > 0;
    const isFree = values.get("sqlUsesFreeOffer") === true;
    expect((pauses || isFree) && !isServerless).toBe(false);
    expect(isFree && Number(values.get("sqlMaxSizeGb")) > 32).toBe(false);
    expect(isFree && values.get("sqlBackupRedundancy") !== "Local").toBe(false);
  });

  test("always-ready instances are of functions that exist", () => {
    const groups = capacityPlans[name];
    const known: readonly string[] = [...(groups?.scalingGroups ?? []), ...(groups?.timers ?? [])];
    const { values } = openParameters(file);
    const ready = readAlwaysReady(values.get("alwaysReady"));
    expect(ready.filter((item) => !known.includes(item.name))).toEqual([]);
    expect(ready).toHaveLength(lengthOf(values.get("alwaysReady")));
  });
});

test("every resource type is checked, and previews are few", () => {
  const resources = bicepFiles.flatMap((file) =>
    open(file).resources.map((resource) => ({ file, line: lineOf(resource.node), ...resource })),
  );
  const unknown = resources.filter(({ target }) => context.types.find(target) === undefined);
  expect(unknown.map(({ file, line }) => `${file}:${String(line)}`)).toEqual([]);
  const unnamed = resources.filter(({ body }) => propertyOf(body, "name") === undefined);
  expect(unnamed.map(({ file, line }) => `${file}:${String(line)}`)).toEqual([]);
});
