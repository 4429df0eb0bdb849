import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { commands } from "../../shared/cli/commands";
import { readStartOptions } from "../../shared/cli/dev";
import { parseCommandLine } from "../../shared/cli/parse-arguments";
import { loadSettings } from "../../shared/settings/load-settings";
import { settingsTable } from "../../shared/settings/settings";
import { setupApi } from "../functions/api-setup";
import type { ApiSetup } from "../functions/api-setup";
import { ensureBuilt } from "../functions/built-app";
import { servePage } from "../functions/page-server";
import type { PageServer } from "../functions/page-server";
import { readBlocks, root } from "./markdown";
import { pasteShell } from "./paste-shell";
import { pastedApp } from "./run-blocks";
import { callsOf, standIn } from "./stand-in";

/*
 * Goal: the blocks that work on Azure are sound as far as a shell sees them: quotes, files, names, JSON and what one command gives to
 * the next. Method: `az`, `azd`, `docker`, `curl` and `npm` are stand-ins that note their words; all else in a block is real.
 *
 * README.md, docs/operate/deploy.md, docs/operate/security.md, docs/reference/cli.md, docs/guides/events.md, infra/README.md
 */
const security = "docs/operate/security.md";
const events = "docs/guides/events.md";
const infra = "infra/README.md";

/** What a block has called of these programs, in order. */
function azureCallsOf(
  page: string,
  marker: string,
  { answers, env = {} }: { answers?: Record<string, string>; env?: Record<string, string> } = {},
): Promise<string[][]> {
  const names = ["az", "azd", "docker", "curl", "npm"];
  const programs = Object.fromEntries(names.map((name) => [name, standIn(answers)]));
  return callsOf([page, marker], { folder: root, programs, env });
}

/** The word behind an option. */
function behind(call: readonly string[] | undefined, option: string): string {
  const value = call?.[call.indexOf(option) + 1];
  if (call?.includes(option) !== true || value === undefined) throw new Error(`no ${option}`);
  return value;
}

const roles = JSON.parse(readFileSync(join(root, "infra/app-roles.json"), "utf8")) as {
  value: string;
}[];
const ingestQueue = settingsTable.find(({ name }) => name === "TASKGATE_INGEST_QUEUE")?.default;

describe("deployments", () => {
  test.each([
    ["README.md", "azure", ["azd auth login", "azd up"]],
    ["docs/operate/deploy.md", "azure", ["azd auth login", "azd up"]],
    [infra, "deploy", ["azd auth login", "azd env new dev", "azd up"]],
  ] as const)(
    "the deployment by %s under %s is a sign-in and a call of azd up",
    async (page, marker, lines) => {
      expect((await azureCallsOf(page, marker)).map((words) => words.join(" "))).toEqual(lines);
      expect(readFileSync(join(root, "azure.yaml"), "utf8")).toContain("infra:");
    },
  );

  test.each(["what-if", "production"])(
    "the command of infra/README.md under %s names a parameter file",
    async (marker) => {
      const [call] = await azureCallsOf(infra, marker);
      expect(call?.slice(0, 3)).toEqual(["az", "deployment", "sub"]);
      expect(existsSync(join(root, behind(call, "--parameters")))).toBe(true);
    },
  );

  test("the migration of infra/README.md is read, with the server and the database of its variables", async () => {
    const variables = join(pastedApp, "variables");
    const npx = `${standIn()}\nenv | grep ^TASKGATE_SQL > '${variables}'`;
    const [call = []] = await callsOf([infra, "migrate"], { programs: { npx } });
    const [, , ...words] = call;
    expect(parseCommandLine(words, commands)).toMatchObject({
      kind: "run",
      options: { wait: "10m", grant: "IDENTITY:CLIENT_ID" },
      lists: { role: ["TaskgateOperator"] },
    });
    const environment = readFileSync(variables, "utf8").trim().split("\n");
    const settings = loadSettings(
      Object.fromEntries(environment.map((line) => line.split("=") as [string, string])),
    );
    expect(JSON.stringify(settings)).toContain("SERVER.database.windows.net");
  });

  test("the commands of deploy.md start a SQL Server, make the database and run the app on it", async () => {
    const [start, make, run] = await azureCallsOf("docs/operate/deploy.md", "sql-server");
    const [, , , ...words] = run ?? [];
    const parsed = parseCommandLine(["dev", ...words], commands);
    if (parsed.kind === "help") throw new Error("expected options");
    const url = new URL(readStartOptions({ ...parsed, folder: "/" }).databaseUrl ?? "");
    expect([run?.slice(0, 3), url.protocol]).toEqual([["npm", "start", "--"], "mssql:"]);
    expect(start).toContain(`MSSQL_SA_PASSWORD=${url.password}`);
    expect(start).toContain(`${url.port}:1433`);
    expect(make?.slice(0, 3)).toEqual(["docker", "exec", behind(start, "--name")]);
    expect([behind(make, "-P"), behind(make, "-U")]).toEqual([url.password, url.username]);
    expect(behind(make, "-Q")).toBe(`create database ${url.pathname.slice(1)}`);
  });
});

describe("events", () => {
  test("az puts the event of the page into the ingest queue, in base64 without a line break", async () => {
    const event = readBlocks(events).find(({ language }) => language === "json")?.text ?? "";
    const long = event.replace("4711", "4711".repeat(50));
    writeFileSync(join(pastedApp, "event.json"), long);
    const [call] = await callsOf([events, "send-by-az"], { programs: { az: standIn() } });
    expect(behind(call, "--queue-name")).toBe(ingestQueue);
    const content = behind(call, "--content");
    expect(content).not.toContain("\n");
    expect(Buffer.from(content, "base64").toString("utf8")).toBe(long);
  });

  test("az gives Event Grid's own identity the right to send, and delivers into the ingest queue", async () => {
    const answers = { "system-topic show": "principal-7" };
    const calls = await azureCallsOf(events, "event-grid", { answers });
    const called = (part: string): string[] | undefined =>
      calls.find((call) => call.join(" ").includes(part));
    const topic = called("system-topic create");
    expect(behind(called("role assignment"), "--assignee")).toBe("principal-7");
    expect(behind(called("system-topic show"), "--name")).toBe(behind(topic, "--name"));
    const subscription = called("event-subscription create");
    expect(behind(subscription, "--system-topic-name")).toBe(behind(topic, "--name"));
    const [account = "", queue] = behind(subscription, "--delivery-identity-endpoint").split(
      "/queueServices/default/queues/",
    );
    expect([account, queue]).toEqual([behind(called("role assignment"), "--scope"), ingestQueue]);
  });
});

describe("the sign-in with Entra", () => {
  test("the registration gets the app's roles and address, and azd the settings of the templates", async () => {
    const answers = { "get-value": "https://app.example", "app create": "client-7" };
    const calls = await azureCallsOf(security, "entra", { answers });
    const [output, create, ...others] = calls;
    const bicep = readFileSync(join(root, "infra/main.bicep"), "utf8");
    expect(bicep).toContain(`output ${output?.at(-1) ?? ""} string`);
    const file = behind(create, "--app-roles");
    expect(JSON.parse(readFileSync(join(root, file.slice(1)), "utf8"))).toEqual(roles);
    expect(behind(create, "--web-redirect-uris")).toBe(
      "https://app.example/.auth/login/aad/callback",
    );
    const ids = others.filter((call) => call[0] === "az").map((call) => behind(call, "--id"));
    expect(ids).toEqual(["client-7", "client-7", "client-7"]);
    const parameters = readFileSync(join(root, "infra/env/prod.bicepparam"), "utf8");
    const set = others.filter(([program, , word]) => program === "azd" && word === "set");
    expect(set).toHaveLength(2);
    for (const [, , , name = ""] of set) expect(parameters).toContain(`'${name}'`);
  });

  test("the forged identity is one that would be an operator's", async () => {
    const env = { URL: "https://app.example" };
    const [call = []] = await azureCallsOf(security, "forged", { env });
    expect(call.slice(0, 3)).toEqual(["curl", "-i", "https://app.example/api/status"]);
    const [name, value = ""] = behind(call, "-H").split(": ");
    expect(name).toBe("x-ms-client-principal");
    const { claims } = JSON.parse(Buffer.from(value, "base64").toString("utf8")) as {
      claims: { val: string }[];
    };
    expect(roles.map((role) => role.value)).toContain(claims[0]?.val);
  });

  test("the bodies that admit the Azure CLI are JSON, and name one scope", async () => {
    const calls = await azureCallsOf(security, "scope", { env: { ID: "client-7" } });
    const [scopes, admitted] = calls.map((call) => JSON.parse(behind(call, "--body")) as object);
    for (const call of calls)
      expect(behind(call, "--url")).toBe(
        "https://graph.microsoft.com/v1.0/applications(appId='client-7')",
      );
    const id = expect.stringMatching(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/) as unknown;
    expect(scopes).toMatchObject({ api: { oauth2PermissionScopes: [{ id }] } });
    const { api } = scopes as { api: { oauth2PermissionScopes: { id: string }[] } };
    const delegatedPermissionIds = api.oauth2PermissionScopes.map((scope) => scope.id);
    expect(admitted).toMatchObject({
      api: { preAuthorizedApplications: [{ delegatedPermissionIds }] },
    });
  });
});

describe("the command line over HTTP", () => {
  let api: ApiSetup;
  let server: PageServer;
  let url: string;
  beforeAll(async () => {
    ensureBuilt();
    api = await setupApi();
    await api.register("greet");
    server = await servePage(api.admin, {
      platform: (headers) =>
        headers["x-functions-key"] === "key-7" || headers.authorization === "Bearer token-7"
          ? {}
          : 401,
    });
    url = new URL(server.url).origin;
  }, 180_000);
  afterAll(async () => {
    await server.close();
    await api.close();
  });

  test("the function key that az lists lets the commands of cli.md in", async () => {
    const programs = { az: standIn({ "keys list": "key-7" }) };
    const adapt = (text: string): string => text.replaceAll("https://APP.azurewebsites.net", url);
    const said = await pasteShell(["docs/reference/cli.md", "over-http"], { programs, adapt });
    expect(said).toMatch(/^greet [^]*The limit of greet is 1, it was 4\./m);
  });

  test("the token that az gives for the registration lets the command of security.md in", async () => {
    const programs = { az: standIn({ "--resource api://client-7": "token-7" }) };
    const env = { ID: "client-7", URL: url };
    expect(await pasteShell([security, "token"], { programs, env })).toMatch(/^greet /m);
  });
});
