// What the hooks of azure.yaml run, alike on Windows, macOS and Linux: Node alone, no package. From any folder:
//   node infra/azd-hook.mjs install | package | migrate | announce
// azd packages the app while it provisions. So each step writes into a folder of its own below .taskgate, never into
// dist, and `install` runs before both.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const packaged = join(root, ".taskgate", "package");
const migrator = join(root, ".taskgate", "migrate");
const deployed = ["host.json", "package.json", "package-lock.json", ".npmrc", ".funcignore"];

/** A sentence for people; anything else that is thrown is a fault of this script. */
class HookError extends Error {}

/** Runs a program with its output on the terminal; throws when it fails. */
function run(program, args, options = {}) {
  // npm is a script on Windows, and scripts need a shell there. No argument here has a blank or comes from outside.
  const shell = program === "npm" && process.platform === "win32";
  const ended = spawnSync(program, args, { cwd: root, stdio: "inherit", shell, ...options });
  if (ended.error) throw new HookError(`${program} could not be started: ${ended.error.message}`);
  if (ended.status !== 0) {
    const how = ended.signal ?? `exit code ${ended.status}`;
    throw new HookError(`\`${[program, ...args].join(" ")}\` failed (${how}).`);
  }
}

/** A value that azd passes on from the outputs of the deployment. */
function need(name) {
  const value = process.env[name];
  if (value) return value;
  throw new HookError(
    `${name}: expected azd to pass it on from infra/main.bicep, got nothing. Run \`azd provision\` first.`,
  );
}

/** As azd itself decides it: what npm installed last is no older than the lock file. */
function isInstalled() {
  const mark = join(root, "node_modules", ".package-lock.json");
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  if (!existsSync(mark) || !existsSync(compiler)) return false;
  return statSync(mark).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs;
}

function install() {
  if (isInstalled()) return;
  console.log("Installing the packages that the build needs ..");
  run("npm", ["ci", "--include=dev", "--ignore-scripts", "--no-progress"]);
}

/**
 * What `functions/` imports by the package's own name, as sources. The compiler would look for it where `exports` says, in
 * dist, which a fresh clone lacks and which may be old.
 */
function ownDoors() {
  const { name, exports = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const doors = Object.entries(exports).filter(([, path]) => path.startsWith("./dist/"));
  return Object.fromEntries(
    doors.map(([door, path]) => [
      `${name}${door.slice(1)}`,
      [join(root, path.replace("./dist/", "").replace(/\.js$/, ".ts"))],
    ]),
  );
}

/** Compiles the program to `folder`/dist. */
function buildInto(folder) {
  install();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const dist = join(folder, "dist");
  const config = join(folder, "tsconfig.json");
  const settings = { extends: "../../tsconfig.json", compilerOptions: { paths: ownDoors() } };
  writeFileSync(config, JSON.stringify(settings));
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  run(process.execPath, [compiler, "-p", config, "--outDir", dist]);
  run(process.execPath, [join(root, ".ci", "copy-assets.cjs"), dist]);
  cpSync(join(root, "package.json"), join(folder, "package.json"));
}

/** Only files that run in Azure: no compiler, no test tools. azd makes its archive of this folder. */
function makePackage() {
  buildInto(packaged);
  for (const name of deployed) cpSync(join(root, name), join(packaged, name));
  run("npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-progress"], { cwd: packaged });
}

/** Schema, roles, the sample's tables, and the database user of the app's identity. */
function migrate() {
  if (process.env["SKIP_MIGRATION"] === "true") {
    console.log("SKIP_MIGRATION is true: `npx taskgate migrate` has to be run elsewhere.");
    return;
  }
  need("TASKGATE_SQL_SERVER");
  const identity = `${need("WORKER_IDENTITY_NAME")}:${need("WORKER_IDENTITY_CLIENT_ID")}`;
  const { taskgate } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const words = ["migrate", "--wait", "10m", "--grant", identity];
  if (taskgate?.sample) words.push("--sample");
  if (need("OPERATOR_API") === "on") words.push("--role", "TaskgateOperator");
  // The private profile has no public address to open.
  if (need("NETWORK_MODE") === "public") words.push("--open-firewall", need("SQL_SERVER_ID"));
  buildInto(migrator);
  // As the account of azd, which the deployment has made the administrator: other tools may be signed in as others.
  const env = { ...process.env, AZURE_TOKEN_CREDENTIALS: "AzureDeveloperCliCredential" };
  // An app on the package has the command among its dependencies.
  const own = join(migrator, "dist", "shared", "cli", "main.js");
  const installed = join(root, "node_modules", "taskgate", "lib", "cli", "main.js");
  const isOnPackage = existsSync(installed);
  const program = isOnPackage ? installed : own;
  const ended = spawnSync(process.execPath, [program, ...words], {
    // The command of the package looks for the sample in its folder.
    cwd: isOnPackage ? migrator : root,
    stdio: "inherit",
    env,
  });
  if (ended.status === 0) return;
  throw new HookError(
    "The migration failed, so nothing is deployed. When it is run elsewhere: `azd env set SKIP_MIGRATION true`.",
  );
}

/** The address of Azure Resource Manager, without a slash at the end. */
const resourceManager = (
  process.env["AZURE_RESOURCE_MANAGER_URL"] || "https://management.azure.com"
).replace(/\/+$/, "");

/** A token of the user signed in to azd. */
function askToken() {
  const args = ["auth", "token", "--output", "json", "--scope", `${resourceManager}/.default`];
  const ended = spawnSync("azd", args, { encoding: "utf8" });
  if (ended.error || ended.status !== 0) {
    const reason = ended.error?.message ?? ended.stderr.trim().split("\n")[0];
    throw new HookError(`azd gives no token (${reason})`);
  }
  return JSON.parse(ended.stdout).token;
}

/** The JSON of an answer, or null; throws where it is an error. */
async function ask(method, url, headers, body) {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    signal: globalThis.AbortSignal.timeout(30_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new HookError(`${method} ${new URL(url).pathname}: ${response.status}`);
  return text === "" ? null : JSON.parse(text);
}

/** Asks again until the answer will do: an app that was just deployed starts anew. */
async function patiently(forMs, body) {
  const untilMs = performance.now() + forMs;
  for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, 10_000)) {
    try {
      return await body();
    } catch (error) {
      if (performance.now() + pauseMs > untilMs) throw error;
      await sleep(pauseMs);
    }
  }
}

/** How long an app that was just deployed may take to answer. */
const waitMs = () => Number(process.env["ANNOUNCE_WAIT_MS"] || 180_000);

/** One sweep: it makes the definitions and schedules known, which else the timer does, in dev hours later. */
async function sweepOnce(app) {
  const site = `/subscriptions/${need("AZURE_SUBSCRIPTION_ID")}/resourceGroups/${need("AZURE_RESOURCE_GROUP")}/providers/Microsoft.Web/sites/${app.name}`;
  const masterKey = await patiently(waitMs(), async () => {
    const authorization = { authorization: `Bearer ${askToken()}` };
    const path = `${site}/host/default/listkeys?api-version=2024-11-01`;
    return (await ask("POST", `${resourceManager}${path}`, authorization)).masterKey;
  });
  const key = { "x-functions-key": masterKey };
  await patiently(waitMs(), () =>
    ask("POST", `${app.url}/admin/functions/sweep`, key, { input: "" }),
  );
  const names = await patiently(waitMs(), async () => {
    const { definitions } = await ask("GET", `${app.url}/api/definitions`, key);
    if (definitions.length === 0) throw new HookError("no definition is registered yet");
    return definitions.map(({ name }) => name);
  });
  console.log(`The app runs and has registered: ${names.join(", ")}.`);
}

/** What a stranger would write to be taken for an operator. */
const forgedPrincipal = Buffer.from(
  JSON.stringify({
    auth_typ: "aad",
    role_typ: "roles",
    claims: [{ typ: "roles", val: "Taskgate.Operator" }],
  }),
).toString("base64");

/** Does the platform stop a caller who has no token but a header of that sort? Throws where that can't be told yet. */
async function isStrangerStopped(app) {
  const response = await fetch(`${app.url}/api/status`, {
    headers: { "x-ms-client-principal": forgedPrincipal },
    redirect: "manual",
    signal: globalThis.AbortSignal.timeout(30_000),
  });
  await response.body?.cancel();
  const { status } = response;
  if (status === 401 || status === 403 || (status >= 300 && status < 400)) return true;
  // Its own words mean that the app has let the request in, with any outcome.
  const isOfTheApp = response.headers.get("content-type")?.startsWith("application/problem+json");
  if (response.ok || isOfTheApp) return false;
  throw new HookError(`GET /api/status: ${status}`);
}

/** Fails the deployment where the sign-in is there by its settings only. */
async function checkSignIn(app) {
  let isStopped;
  try {
    isStopped = await patiently(waitMs(), () => isStrangerStopped(app));
  } catch (error) {
    console.log(
      `Whether the sign-in stops strangers could not be seen from here (${error.message}). docs/operate/security.md says how to look.`,
    );
    return;
  }
  if (!isStopped) {
    throw new HookError(
      `${app.url} lets strangers in: App Service's sign-in doesn't stand before the app. At once: \`azd env set API_SIGN_IN keys\`, then \`azd provision\`. API_SIGN_IN=entra can't be used here.`,
    );
  }
  console.log("A request without a sign-in was turned away.");
}

/** The addresses to open. A failed step is told and leaves the deployment as it is, except for a sign-in that lets every caller in. */
async function announce() {
  const app = { name: need("WORKER_NAME"), url: need("WORKER_URL") };
  if (need("API_SIGN_IN") === "entra") {
    await checkSignIn(app);
    console.log(`
Dashboard: ${app.url}/api/dashboard
Whoever has the app role Taskgate.Reader or Taskgate.Operator signs in there (docs/operate/security.md).
Definitions are registered by the next sweep (TASKGATE_SWEEP_SCHEDULE), or when a call first names one.
`);
    return;
  }
  try {
    await sweepOnce(app);
  } catch (error) {
    console.log(
      `The first sweep could not be seen to its end (${error.message}). The app's own timer sweeps, too (TASKGATE_SWEEP_SCHEDULE).`,
    );
  }
  console.log(`
Dashboard: ${app.url}/api/dashboard
It asks for a function key. To get one:
  az functionapp keys list --resource-group ${process.env["AZURE_RESOURCE_GROUP"] ?? "GROUP"} --name ${app.name} --query functionKeys.default --output tsv
or in the Azure portal: the function app ${app.name}, App keys, default.
`);
}

const steps = { install, package: makePackage, migrate, announce };
const [name = ""] = process.argv.slice(2);
try {
  if (!Object.hasOwn(steps, name)) {
    throw new HookError(`step: got \`${name}\`, expected one of ${Object.keys(steps).join(", ")}`);
  }
  await steps[name]();
} catch (error) {
  if (!(error instanceof HookError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
