import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { describePosix } from "../support/posix";
import { readAzureYaml } from "../static/bicep/azure-yaml";
import type { Answer } from "./fake-programs";
import { certificate, fakeAzd, makeProgram, runNode, serveHttps } from "./fake-programs";
import type { Asked } from "./fake-programs";

// Goal: what azd's hooks do, step by step, in a checkout of their own: npm, azd, the compiler and the command line are
// programs that note how they were called. The real ones are tested beside this.
const root = join(__dirname, "../..");
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "taskgate-hook-"));
  write(
    "package.json",
    JSON.stringify({
      name: "taskgate",
      exports: { ".": "./dist/shared/index.js", "./package.json": "./package.json" },
      taskgate: { sample: "dist/sample.js" },
    }),
  );
  for (const name of ["package-lock.json", "host.json", ".npmrc", ".funcignore", "tsconfig.json"])
    write(name, "{}");
  write(".ci/copy-assets.cjs", note("assets"));
  mkdirSync(join(folder, "infra"));
  copyFileSync(join(root, "infra/azd-hook.mjs"), join(folder, "infra/azd-hook.mjs"));
  makeProgram(folder, "azd", fakeAzd);
  path = makeProgram(folder, "npm", `${note("npm")}\n${fakeInstall}`);
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): void {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A Node program that notes its words, its folder and its sign-in. */
function note(name: string): string {
  return `require("node:fs").appendFileSync(${JSON.stringify(join(folder, "calls.log"))}, JSON.stringify({
    name: ${JSON.stringify(name)}, words: process.argv.slice(2), cwd: process.cwd(),
    signIn: process.env.AZURE_TOKEN_CREDENTIALS ?? null }) + "\\n");`;
}

/** The compiler that \`npm ci\` installs writes a command line that notes its call and ends as FAKE_CLI_CODE says. */
const fakeInstall = `
const { mkdirSync, writeFileSync } = require("node:fs");
mkdirSync("node_modules/typescript/bin", { recursive: true });
writeFileSync("node_modules/.package-lock.json", "{}");
writeFileSync("node_modules/typescript/bin/tsc", process.env.FAKE_TSC);`;

const fakeCompiler = (): string => `${note("tsc")}
const { mkdirSync, writeFileSync } = require("node:fs");
const out = process.argv.at(-1);
mkdirSync(out + "/shared/cli", { recursive: true });
writeFileSync(out + "/shared/cli/main.js", ${JSON.stringify(`${note("taskgate")} process.exitCode = Number(process.env.FAKE_CLI_CODE ?? 0);`)});`;

interface Call {
  readonly name: string;
  readonly words: string[];
  readonly cwd: string;
  readonly signIn: string | null;
}

function calls(): Call[] {
  const log = join(folder, "calls.log");
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Call);
}

const outputs = {
  TASKGATE_SQL_SERVER: "sql-1.database.windows.net",
  TASKGATE_SQL_DATABASE: "taskgate",
  WORKER_IDENTITY_NAME: "id-1",
  WORKER_IDENTITY_CLIENT_ID: "01234567-89ab-cdef-0123-456789abcdef",
  SQL_SERVER_ID: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Sql/servers/sql-1",
  NETWORK_MODE: "public",
  OPERATOR_API: "on",
  API_SIGN_IN: "keys",
  WORKER_NAME: "func-1",
  AZURE_RESOURCE_GROUP: "rg-1",
  AZURE_SUBSCRIPTION_ID: "sub-1",
};

function hook(step: string, env: Record<string, string> = {}): ReturnType<typeof runNode> {
  const all = { PATH: path, NODE_EXTRA_CA_CERTS: certificate, FAKE_TSC: fakeCompiler(), ...env };
  // azd may be called from anywhere.
  return runNode([join(folder, "infra/azd-hook.mjs"), step], { cwd: tmpdir(), env: all });
}

describePosix("the hooks' script", () => {
  test("the hooks' script installs in a fresh clone, and not again while the lock file stays the same", async () => {
    expect(await hook("install")).toMatchObject({ code: 0 });
    expect(await hook("install")).toMatchObject({ code: 0, out: "" });
    expect(calls()).toMatchObject([
      {
        name: "npm",
        words: ["ci", "--include=dev", "--ignore-scripts", "--no-progress"],
        cwd: folder,
      },
    ]);
    const later = new Date(Date.now() + 60_000);
    utimesSync(join(folder, "package-lock.json"), later, later);
    await hook("install");
    expect(calls()).toHaveLength(2);
  });

  test("the hooks' script packages into a folder of its own: compiled there, with the production packages alone", async () => {
    expect(await hook("package")).toMatchObject({ code: 0 });
    const target = join(folder, ".taskgate/package");
    expect(calls().map(({ name, words, cwd }) => [name, words, cwd])).toEqual([
      ["npm", ["ci", "--include=dev", "--ignore-scripts", "--no-progress"], folder],
      ["tsc", ["-p", join(target, "tsconfig.json"), "--outDir", join(target, "dist")], folder],
      ["assets", [join(target, "dist")], folder],
      ["npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-progress"], target],
    ]);
    for (const name of ["host.json", "package.json", "package-lock.json", ".npmrc", ".funcignore"])
      expect(existsSync(join(target, name))).toBe(true);
    expect(existsSync(join(folder, "dist"))).toBe(false);
  });

  test("the hooks' script compiles what the app imports by the package's name from its source: a fresh clone has no dist", async () => {
    await hook("package");
    const config = readFileSync(join(folder, ".taskgate/package/tsconfig.json"), "utf8");
    expect(JSON.parse(config)).toEqual({
      extends: "../../tsconfig.json",
      compilerOptions: { paths: { taskgate: [join(folder, "shared/index.ts")] } },
    });
  });

  test("the hooks' script migrates with the deployed package, signed in as azd, from another folder than the package", async () => {
    await hook("package");
    expect(await hook("migrate", outputs)).toMatchObject({ code: 0 });
    const migration = calls().at(-1);
    expect(migration).toMatchObject({
      name: "taskgate",
      signIn: "AzureDeveloperCliCredential",
      words: [
        "migrate",
        "--wait",
        "10m",
        "--grant",
        "id-1:01234567-89ab-cdef-0123-456789abcdef",
        "--sample",
        "--role",
        "TaskgateOperator",
        "--open-firewall",
        outputs.SQL_SERVER_ID,
      ],
    });
    const folders = calls().flatMap(({ name, words }) => (name === "tsc" ? [words.at(-1)] : []));
    expect(folders).toEqual([
      join(folder, ".taskgate/package/dist"),
      join(folder, ".taskgate/migrate/dist"),
    ]);
  });

  test("a private network is not opened, and no operator is made where operators' routes are off", async () => {
    await hook("migrate", { ...outputs, NETWORK_MODE: "private", OPERATOR_API: "off" });
    const words = calls().at(-1)?.words ?? [];
    expect(words).toContain("--grant");
    expect(words).not.toContain("--open-firewall");
    expect(words).not.toContain("--role");
  });

  test("a migration that fails fails the hook, and says how to leave it out", async () => {
    const ended = await hook("migrate", { ...outputs, FAKE_CLI_CODE: "4" });
    expect(ended.code).toBe(1);
    expect(ended.error).toContain("azd env set SKIP_MIGRATION true");
    expect(
      await hook("migrate", { ...outputs, SKIP_MIGRATION: "true", FAKE_CLI_CODE: "4" }),
    ).toMatchObject({ code: 0 });
  });

  test("the hooks' script names the output that is missing, and a step that there isn't", async () => {
    const fewer = { ...outputs, WORKER_IDENTITY_NAME: "" };
    expect((await hook("migrate", fewer)).error).toContain("WORKER_IDENTITY_NAME: expected azd");
    expect((await hook("deploy")).error).toContain(
      "got `deploy`, expected one of install, package",
    );
  });
});

describePosix("after the deployment", () => {
  /** The app and Resource Manager behind one address; the app refuses the first call, as one that starts does. */
  async function announce(
    answer: (asked: Asked, count: number) => Answer,
    more: Record<string, string> = {},
  ) {
    let count = 0;
    const service = await serveHttps((asked) => answer(asked, (count += 1)));
    try {
      const env = {
        ...outputs,
        WORKER_URL: service.url,
        AZURE_RESOURCE_MANAGER_URL: service.url,
        ANNOUNCE_WAIT_MS: "1500",
        ...more,
      };
      return { ...(await hook("announce", env)), asked: service.asked, url: service.url };
    } finally {
      await service.close();
    }
  }

  test("the deployment's hook sweeps once with the master key, and prints the address and how to get a key, never a key", async () => {
    const { code, out, asked, url } = await announce(({ path: asked_ }, count) => {
      if (asked_.includes("listkeys")) return { status: 200, body: { masterKey: "key-of-all" } };
      if (asked_ === "/admin/functions/sweep") return { status: count < 3 ? 503 : 202 };
      return { status: 200, body: { definitions: [{ name: "import-file" }] } };
    });
    expect(code).toBe(0);
    expect(asked.map(({ method, path: asked_ }) => `${method} ${asked_}`)).toEqual([
      "POST /subscriptions/sub-1/resourceGroups/rg-1/providers/Microsoft.Web/sites/func-1/host/default/listkeys?api-version=2024-11-01",
      "POST /admin/functions/sweep",
      "POST /admin/functions/sweep",
      "GET /api/definitions",
    ]);
    expect(asked[0]?.authorization).toBe("Bearer token-of-azd");
    expect(asked[2]).toMatchObject({ key: "key-of-all", body: '{"input":""}' });
    expect(out).toContain("has registered: import-file.");
    expect(out).toContain(`Dashboard: ${url}/api/dashboard`);
    expect(out).toContain("az functionapp keys list --resource-group rg-1 --name func-1");
    expect(out).not.toContain("key-of-all");
  }, 30_000);

  test("a sweep that can't be made is told, and fails nothing", async () => {
    const { code, out } = await announce(() => ({ status: 403 }));
    expect(code).toBe(0);
    expect(out).toContain("could not be seen to its end");
    expect(out).toContain("Dashboard: ");
  }, 30_000);

  const entra = { API_SIGN_IN: "entra" };
  test.each([
    ["the sign-in page", { status: 302 }],
    ["401", { status: 401 }],
    ["a closed network", { status: 403 }],
    ["the app itself", { status: 401, type: "application/problem+json" }],
  ])(
    "a forged principal is sent with Entra, and turned away by %s",
    async (_, answer) => {
      const { code, out, asked } = await announce(() => answer, entra);
      expect(code).toBe(0);
      expect(out).toContain("turned away");
      expect(out).toContain("Taskgate.Reader or Taskgate.Operator");
      expect(asked.map(({ path: asked_, key }) => [asked_, key])).toEqual([["/api/status", ""]]);
      const sent = Buffer.from(asked[0]?.principal ?? "", "base64").toString("utf8");
      expect(sent).toContain('"val":"Taskgate.Operator"');
    },
    30_000,
  );

  test.each([
    ["gets data", { status: 200, body: {} }],
    [
      "meets the app's own error",
      {
        status: 503,
        type: "application/problem+json",
        body: { code: "TASKGATE_STORE_UNAVAILABLE" },
      },
    ],
  ])(
    "a stranger with Entra who %s fails the deployment, which says what to do",
    async (_, answer) => {
      const { code, error } = await announce(() => answer, entra);
      expect(code).toBe(1);
      expect(error).toContain("lets strangers in");
      expect(error).toContain("azd env set API_SIGN_IN keys");
    },
    30_000,
  );

  test("an app with Entra that doesn't answer is told, and fails nothing", async () => {
    const { code, out } = await announce(() => ({ status: 502 }), entra);
    expect(code).toBe(0);
    expect(out).toContain("could not be seen from here (GET /api/status: 502)");
  }, 30_000);
});

describe("azure.yaml", () => {
  const azure = readAzureYaml(readFileSync(join(root, "azure.yaml"), "utf8"));
  const script = readFileSync(join(root, "infra/azd-hook.mjs"), "utf8");

  test("every hook runs a step of the script, the first of all installs, and none builds into dist", () => {
    expect(azure.hooks.map(({ name, posix }) => `${name}: ${posix}`)).toEqual([
      "prepackage: node infra/azd-hook.mjs package",
      "prepackage: node infra/azd-hook.mjs install",
      "postprovision: node infra/azd-hook.mjs migrate",
      "postdeploy: node infra/azd-hook.mjs announce",
    ]);
  });

  test("each value that the script needs of azd is an output of main.bicep, or azd's own", () => {
    const bicep = readFileSync(join(root, "infra/main.bicep"), "utf8");
    const found = new Set([...bicep.matchAll(/^output (\w+)/gm)].map((match) => match[1]));
    const needed = [...script.matchAll(/need\("(\w+)"\)/g)].map((match) => match[1] ?? "");
    expect(needed.length).toBeGreaterThan(8);
    const own = ["AZURE_SUBSCRIPTION_ID"];
    expect(needed.filter((name) => !found.has(name) && !own.includes(name))).toEqual([]);
  });
});
