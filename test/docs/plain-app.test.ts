import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { appendFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findFreePort } from "../../shared/local/free-port";
import { ensureBuilt } from "../functions/built-app";
import { createEmptyDatabase } from "../migration/empty-database";
import { readBlocks, root } from "./markdown";
import { commandsThatRun, pasteShell } from "./paste-shell";
import { noteRun, testBlocksRan } from "./run-blocks";
import { startShell } from "./start-shell";
import type { ShellRun } from "./start-shell";

/*
 * Goal: the plain Node app of the guide, and the dashboard behind its own sign-in, run as pasted: a web server with
 * Express, a worker, PostgreSQL. Packages are linked instead of installed; address and port are the test's.
 */
const blocks = [
  ...readBlocks("docs/operate/resident-worker.md"),
  ...readBlocks("docs/operate/dashboard.md"),
];
const app = mkdtempSync(join(tmpdir(), "taskgate-plain-"));
const modules = join(app, "node_modules");

function block(marker: string): string {
  const found = blocks.find((candidate) => candidate.marker === marker);
  if (found === undefined) throw new Error(`no block under <!-- ${marker} -->`);
  return found.text;
}

/** The file that the first line of a block names. */
function write(marker: string): void {
  const text = block(marker);
  const name = /^\/\/ (\S+)\n/.exec(text)?.[1];
  if (name === undefined) throw new Error(`the block ${marker} names no file`);
  writeFileSync(join(app, name), text);
}

/** What `npm install` would leave. Express is there as a part of Azurite. */
function linkPackages(): void {
  const ofAzurite = createRequire(join(root, "node_modules/azurite/package.json"));
  const places = {
    taskgate: root,
    express: dirname(ofAzurite.resolve("express/package.json")),
    pg: join(root, "node_modules/pg"),
    "@azure/functions": join(root, "node_modules/@azure/functions"),
  };
  for (const folder of ["@azure", ".bin"]) mkdirSync(join(modules, folder), { recursive: true });
  for (const [name, place] of Object.entries(places)) symlinkSync(place, join(modules, name));
  const command = join(modules, ".bin/taskgate");
  const program = join(root, "dist/shared/cli/main.js");
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(command, 0o755);
}

/** Commands that stay, in the app's folder. */
const run = (text: string, env: Readonly<Record<string, string>> = {}): ShellRun => {
  const { PATH = "" } = process.env;
  return startShell(text, { folder: app, env: { PATH, ...env } });
};

let database: { url: string; drop(): Promise<void> };
let address: string;
let port: string;

beforeAll(async () => {
  ensureBuilt();
  linkPackages();
  database = await createEmptyDatabase();
  port = String(await findFreePort());
  address = `http://127.0.0.1:${port}`;
  for (const marker of ["plain-gate", "plain-worker", "plain-server", "own-admin"]) write(marker);
}, 180_000);

afterAll(async () => {
  await database.drop();
  rmSync(app, { recursive: true, force: true });
});

/** Asks until the server listens. */
async function ask(path: string, init: RequestInit, its: ShellRun): Promise<Response> {
  for (let tries = 0; tries < 600; tries += 1) {
    try {
      return await fetch(`${address}${path}`, init);
    } catch {
      await wait(50);
    }
  }
  throw new Error(`no answer: ${its.lines()}`);
}

describe("the plain Node app", () => {
  test("the plain app's manifest is made by the commands as pasted", async () => {
    const place = ["docs/operate/resident-worker.md", "plain-install"] as const;
    expect(block("plain-install").replace(commandsThatRun(place), "")).toMatch(
      /^\nnpm install --ignore-scripts \S+\.tgz @azure\/functions pg express$/,
    );
    await pasteShell(place, { folder: app });
    const manifest = JSON.parse(readFileSync(join(app, "package.json"), "utf8")) as object;
    expect(manifest).toMatchObject({ type: "module", main: "worker.js" });
  });

  test("a task that Express adds is run by `taskgate work`, and both end at SIGTERM", async () => {
    const commands = block("plain-run").replace(/postgres:\S+/, `"${database.url}"`);
    const both = run(commands, { PORT: port });
    try {
      const response = await ask("/greet/Ada", { method: "POST" }, both);
      expect([response.status, await response.json()]).toEqual([202, { taskId: "1" }]);
      let explained = "";
      for (let tries = 0; tries < 100 && !explained.includes("is done"); tries += 1) {
        const asked = run("npx taskgate explain 1", { TASKGATE_DATABASE_URL: database.url });
        await asked.ended;
        explained = asked.lines();
      }
      expect(explained).toContain("Task 1 (`greet`) is done.");
      expect(both.lines()).toContain("working");
      for (const marker of ["plain-gate", "plain-worker", "plain-server", "plain-run"])
        noteRun(["docs/operate/resident-worker.md", marker]);
    } finally {
      await both.end();
    }
  });

  test("the first commands of the page build the app, and run its tasks until they are ended", async () => {
    // The build is the reader's own.
    const build = ["npm", "pkg", "set", "scripts.build=node --check worker.js"];
    execFileSync(build[0] ?? "", build.slice(1), { cwd: app });
    const commands = block("work-run").replace(/postgres:\S+/, `"${database.url}"`);
    const worker = run(commands);
    try {
      await worker.until("working");
      expect(worker.lines()).toMatch(/> node --check worker\.js\n[^]*working/);
      noteRun(["docs/operate/resident-worker.md", "work-run"]);
    } finally {
      await worker.end();
    }
  });
});

/** The reader's sign-in: a bearer token that is a name. */
const signIn = `
export function requireUser(request, response, next) {
  const [, name] = /^Bearer (\\w+)$/.exec(request.headers.authorization ?? "") ?? [];
  if (name === undefined) return response.writeHead(401).end();
  request.user = { name, isOperator: name === "ada" };
  next();
}
`;

describe("the dashboard behind the app's own sign-in", () => {
  let server: ShellRun;
  beforeAll(() => {
    writeFileSync(join(app, "sign-in.js"), signIn);
    appendFileSync(join(app, "server.js"), block("own-mount"));
    server = run(block("own-run"), { TASKGATE_DATABASE_URL: database.url, PORT: port });
  });
  afterAll(() => server.end());

  const as = (name: string, more: Record<string, string> = {}): Record<string, string> => ({
    authorization: `Bearer ${name}`,
    ...more,
  });
  const asJson = async (response: Response): Promise<unknown> => [
    response.status,
    await response.json(),
  ];
  const setLimit = (headers: Record<string, string>): Promise<Response> => {
    const body = JSON.stringify({ limit: 1, reason: "slow" });
    return ask("/ops/definitions/greet/limit", { method: "PUT", headers, body }, server);
  };

  test("a stranger gets nothing", async () => {
    const { status } = await ask("/ops/status", {}, server);
    expect(status).toBe(401);
  });

  test("a reader sees the task without its payload, and changes nothing", async () => {
    const status = await ask("/ops/status", { headers: as("bob") }, server);
    expect(await asJson(status)).toMatchObject([200, { operatorApi: false }]);
    const task = await ask("/ops/tasks/1", { headers: as("bob") }, server);
    const facts = { state: "done", payload: null, payloadBytes: 14 };
    expect(await asJson(task)).toMatchObject([200, { facts }]);
    expect((await setLimit(as("bob"))).status).toBe(403);
  });

  test("an identity that the caller writes itself means nothing", async () => {
    const claims = [{ typ: "roles", val: "Taskgate.Operator" }];
    const forged = Buffer.from(JSON.stringify({ auth_typ: "aad", claims })).toString("base64");
    const headers = as("bob", {
      "x-ms-client-principal": forged,
      "x-ms-client-principal-name": "eve",
    });
    expect((await setLimit(headers)).status).toBe(403);
  });

  test("an operator changes the limit, and the audit has the name", async () => {
    expect((await setLimit(as("ada", { "sec-fetch-site": "cross-site" }))).status).toBe(403);
    expect(await asJson(await setLimit(as("ada")))).toMatchObject([200, { newLimit: 1 }]);
    const audit = await ask("/ops/audit?max=1", { headers: as("ada") }, server);
    const entry = { action: "set_limit", actor: "http:ada", reason: "slow" };
    expect(await asJson(audit)).toMatchObject([200, { entries: [entry] }]);
  });

  test("the page and its files are served, and other paths aren't", async () => {
    const headers = as("bob");
    const page = await ask("/ops/dashboard", { headers }, server);
    expect([page.status, page.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const script = await ask("/ops/dashboard/app.js", { headers }, server);
    expect([script.status, script.headers.get("content-type")]).toEqual([
      200,
      "text/javascript; charset=utf-8",
    ]);
    expect((await ask("/ops/nothing", { headers }, server)).status).toBe(404);
  });

  test("a task is added by HTTP, and a body that is too long is refused", async () => {
    const add = (body: string): Promise<Response> =>
      ask("/ops/definitions/greet/tasks", { method: "POST", headers: as("ada"), body }, server);
    const added = await add('{"payload":{"name":"Bo"}}');
    expect(await asJson(added)).toMatchObject([201, { tasks: [{ task: "2" }] }]);
    expect((await add(" ".repeat(3_000_000))).status).toBe(413);
    expect((await add(" ".repeat(5_000_000))).status).toBe(413);
  });

  test("the command line works over it, with a bearer token", async () => {
    const asked = run(`npx taskgate status --url ${address}/ops`, { TASKGATE_TOKEN: "bob" });
    await asked.ended;
    expect(asked.lines()).toMatch(/^greet .* operator's limit$/m);
    for (const marker of ["own-admin", "own-mount", "own-run"])
      noteRun(["docs/operate/dashboard.md", marker]);
  });
});

testBlocksRan([
  ["docs/operate/resident-worker.md", "work-run"],
  ["docs/operate/resident-worker.md", "plain-install"],
  ["docs/operate/resident-worker.md", "plain-gate"],
  ["docs/operate/resident-worker.md", "plain-worker"],
  ["docs/operate/resident-worker.md", "plain-server"],
  ["docs/operate/resident-worker.md", "plain-run"],
  ["docs/operate/dashboard.md", "own-admin"],
  ["docs/operate/dashboard.md", "own-mount"],
  ["docs/operate/dashboard.md", "own-run"],
]);
