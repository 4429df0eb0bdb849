// Judges infra/ with the real Bicep compiler: it builds, gives no warning, is formatted, and deploys what the snapshots say.
//   node .ci/bicep.cjs            checks; says that it was skipped where no compiler can be had
//   node .ci/bicep.cjs --write    formats the files and writes the snapshots anew
//   node .ci/bicep.cjs --restore  prints the folder of the pinned compiler, for a PATH
"use strict";

const { execFile, execFileSync } = require("node:child_process");
const { cpSync, existsSync, mkdtempSync, readdirSync } = require("node:fs");
const { readFileSync, rmSync, writeFileSync } = require("node:fs");
const { homedir, tmpdir } = require("node:os");
const { delimiter, dirname, join } = require("node:path");
const { stripVTControlCharacters } = require("node:util");
const broken = require("./broken-bicep.cjs");

const pinned = "0.49.2";
const packageName = "Azure.Bicep.CommandLine.linux-x64";
const infra = join(__dirname, "..", "infra");
const environments = ["dev", "prod"];
/** Ids that stand for anybody's, so that names which are computed from them stay the same. */
const scope = [
  ...["--tenant-id", "00000000-0000-0000-0000-000000000001"],
  ...["--subscription-id", "00000000-0000-0000-0000-000000000002"],
  ...["--location", "northeurope"],
];
/** Without DisableImplicitFrameworkReferences the packs of the framework are downloaded, too. */
const projectText = `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>net8.0</TargetFramework>
    <DisableImplicitFrameworkReferences>true</DisableImplicitFrameworkReferences>
  </PropertyGroup>
  <ItemGroup>
    <PackageDownload Include="${packageName}" Version="[${pinned}]" />
  </ItemGroup>
</Project>
`;
/** For .NET: each call of the compiler lasts some seconds. Measured over all of them: a quarter less processor time. */
const shortLived = { DOTNET_TieredPGO: "0", DOTNET_GCgen0size: "0x8000000" };
/** What the parameter files read from the environment and have no default for. */
const variables = {
  // So that one snapshot has addresses, and the other a network without a way in.
  dev: { API_ALLOWED_ADDRESSES: "203.0.113.7,198.51.100.0/24, 2001:db8::1" },
  prod: {
    SQL_ADMIN_OBJECT_ID: "00000000-0000-0000-0000-000000000003",
    SQL_ADMIN_NAME: "taskgate-sql-admins",
    // So that one snapshot has the sign-in with keys, the other that with Entra.
    API_SIGN_IN: "entra",
    API_ENTRA_CLIENT_ID: "00000000-0000-0000-0000-000000000004",
    API_OPEN_PATHS: "/api/notify",
  },
};
/** What main.bicep must refuse by a sentence: variables beside those above, and the end of the sentence. */
const refused = [
  [{ API_ENTRA_CLIENT_ID: "" }, "(API_ENTRA_CLIENT_ID)"],
  [
    {
      API_OPEN_PATHS:
        "/,/api,/api/,/api/Status,/api/st,/api//status,/api/taskgate/status,/notify,/api/a/../status,/api/a%2f,/api/a*,/api/a\\status,/api/statuses",
    },
    "got / /api /api/ /api/Status /api/st /api//status /api/taskgate/status /notify /api/a/../status /api/a%2f /api/a* /api/a\\status (API_OPEN_PATHS)",
  ],
];

/** The compiler that is installed, else the pinned one from NuGet. Throws where there is neither. */
function findCompiler() {
  const name = process.platform === "win32" ? "bicep.exe" : "bicep";
  const azure = process.env.AZURE_CONFIG_DIR || join(homedir(), ".azure");
  const folders = (process.env.PATH || "").split(delimiter).filter((folder) => folder !== "");
  // The last is what "az bicep" runs; "az bicep snapshot" exists in new versions of az only.
  const paths = [...folders, join(azure, "bin")].map((folder) => join(folder, name));
  return paths.find((path) => existsSync(path)) ?? restoreCompiler();
}

/** The pinned compiler, from NuGet's cache or restored into it. Throws where it can't be had. */
function restoreCompiler() {
  const cache = process.env.NUGET_PACKAGES || join(homedir(), ".nuget", "packages");
  const path = join(cache, packageName.toLowerCase(), pinned, "tools", "bicep");
  if (existsSync(path)) return path;
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(`no bicep, no az bicep, and ${packageName} is for Linux on x64`);
  const folder = mkdtempSync(join(tmpdir(), "taskgate-bicep-"));
  try {
    const project = join(folder, "bicep.csproj");
    writeFileSync(project, projectText);
    execFileSync("dotnet", ["restore", project], { stdio: ["ignore", 2, 2], timeout: 180_000 });
    return path;
  } catch (error) {
    const reason =
      error.code === "ENOENT" ? "and no dotnet" : `and dotnet can't restore it: ${error.message}`;
    throw new Error(`no bicep, no az bicep, ${reason}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the compiler in `cwd`; the parameter files see no variables but those of `environment` and `more`. */
function run(compiler, cwd, { args, environment, more = {} }) {
  const env = { ...shortLived, ...process.env };
  for (const name of readVariables()) delete env[name];
  Object.assign(env, variables[environment], more);
  const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(compiler, args, options, (error, stdout, stderr) => {
      resolve({ args, isFailed: error !== null, stdout, stderr, error });
    });
  });
}

/** Names that the parameter files read from the environment. */
function readVariables() {
  return environments
    .map((name) => readFileSync(join(infra, "env", `${name}.bicepparam`), "utf8"))
    .flatMap((text) => [...text.matchAll(/readEnvironmentVariable\('(\w+)'/g)])
    .map(([, name]) => name);
}

/** Refused or warned of: both are faults here, and so is everything else that is said beside the result. */
function faultsOf(result) {
  if (!result.isFailed && result.stderr.trim() === "") return [];
  const text = `${result.stderr}${result.isFailed ? result.stdout : ""}`.trim();
  const plain = stripVTControlCharacters(text) || String(result.error);
  return [`bicep ${result.args.join(" ")}\n${plain}`];
}

/** Everything below a folder that the compiler reads, as paths in it. */
function listFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((path) => /\.bicep(param)?$/.test(path));
}

/** Lints, builds and formats a copy of infra/; text that the formatter changes is a fault. */
async function checkFiles(compile, copy) {
  const results = await inTurn([
    () => compile("prod", "lint", "--no-restore", "--pattern", "**/*.bicep"),
    () => compile("prod", "lint", "--no-restore", "--pattern", "**/*.bicepparam"),
    () => compile("prod", "build", "--no-restore", "main.bicep", "--outfile", "main.json"),
    ...format(compile),
  ]);
  const changed = listFiles(infra).filter(
    (path) => readFileSync(join(infra, path), "utf8") !== readFileSync(join(copy, path), "utf8"),
  );
  return [...results.flatMap(faultsOf), ...changed.map((path) => `${path} is not formatted`)];
}

/** Formats the copy; the compiler has no option that only verifies. */
function format(compile) {
  return ["**/*.bicep", "**/*.bicepparam"].map(
    (pattern) => () => compile("prod", "format", "--pattern", pattern),
  );
}

/** Writes into the copy, or compares with it, what a parameter file would deploy. */
function snapshot(compile, name, mode) {
  return compile(name, "snapshot", `env/${name}.bicepparam`, ...scope, "--mode", mode);
}

/** One after the other: the machine that checks may have few cores. */
async function inTurn(calls) {
  const results = [];
  for (const call of calls) results.push(await call());
  return results;
}

/** Compares what a parameter file would deploy with its snapshot. Builds the parameter file, too. */
async function checkSnapshot(compile, copy, name) {
  const file = `env/${name}.snapshot.json`;
  if (!existsSync(join(infra, file))) return [`${file} is missing`];
  const written = faultsOf(await snapshot(compile, name, "overwrite"));
  if (written.length > 0 || canonical(join(copy, file)) === canonical(join(infra, file)))
    return written;
  // The compiler says what differs; it leaves the outputs out of that.
  cpSync(join(infra, file), join(copy, file));
  const faults = faultsOf(await snapshot(compile, name, "validate"));
  return faults.length > 0 ? faults : [`${file}: the outputs of main.bicep differ`];
}

/** A snapshot with its outputs in order: the compiler gives them in any. */
function canonical(path) {
  const snapshot = JSON.parse(readFileSync(path, "utf8"));
  const outputs = Object.entries(snapshot.outputs).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ ...snapshot, outputs: Object.fromEntries(outputs) }, null, 2)}\n`;
}

/** Every row of the table of broken Bicep must be refused with its code: otherwise this check checks nothing. */
async function checkBroken(compile, copy) {
  const samples = broken.map(([code, file, text, replacement], index) => {
    const whole = readFileSync(join(infra, file), "utf8");
    const sample = join(dirname(file), `broken-${index}-${file.split("/").pop()}`);
    const isThere = whole.includes(text);
    if (isThere)
      writeFileSync(
        join(copy, sample),
        whole.replace(text, () => replacement),
      );
    return { code, sample, isThere, title: `${code}: ${JSON.stringify(text)} in infra/${file}` };
  });
  const results = await inTurn([
    () => compile("prod", "lint", "--no-restore", "--pattern", "**/broken-*.bicep"),
    () => compile("prod", "lint", "--no-restore", "--pattern", "**/broken-*.bicepparam"),
  ]);
  const lines = results.flatMap(({ stderr, stdout }) => `${stderr}\n${stdout}`.split("\n"));
  return samples.flatMap(({ code, sample, isThere, title }) => {
    if (!isThere) return [`.ci/broken-bicep.cjs: the text is gone, ${title}`];
    const own = lines.filter((line) => line.replaceAll("\\", "/").includes(`/${sample}(`));
    const isFound = own.some((line) => new RegExp(`: (Error|Warning) ${code}:`).test(line));
    return isFound ? [] : [`.ci/broken-bicep.cjs: not refused, ${title}\n${own.join("\n")}`];
  });
}

/** Values that the compiler takes and the template must not. */
async function checkRefused(compiler, copy) {
  const args = ["snapshot", "env/prod.bicepparam", ...scope, "--mode", "overwrite"];
  const results = await inTurn(
    refused.map(
      ([more]) =>
        () =>
          run(compiler, copy, { args, environment: "prod", more }),
    ),
  );
  return results.flatMap(({ isFailed, stderr, stdout }, index) => {
    const [more, words] = refused[index];
    const said = stripVTControlCharacters(`${stderr}${stdout}`);
    return isFailed && said.includes(words)
      ? []
      : [`main.bicep: not refused with ${JSON.stringify(words)}, ${JSON.stringify(more)}\n${said}`];
  });
}

async function writeAnew(compile, copy) {
  const results = await inTurn([
    ...format(compile),
    ...environments.map((name) => () => snapshot(compile, name, "overwrite")),
  ]);
  const faults = results.flatMap(faultsOf);
  if (faults.length > 0) return faults;
  for (const path of listFiles(infra)) cpSync(join(copy, path), join(infra, path));
  for (const name of environments) {
    const file = `env/${name}.snapshot.json`;
    writeFileSync(join(infra, file), canonical(join(copy, file)));
  }
  console.log("Bicep: files formatted, snapshots written; read their diff");
  return [];
}

async function checkAll(compile, copy, compiler) {
  const faults = await checkFiles(compile, copy);
  // What does not compile has neither snapshots nor samples.
  if (faults.length > 0) return faults;
  const compared = await inTurn(
    environments.map((name) => () => checkSnapshot(compile, copy, name)),
  );
  faults.push(...compared.flat(), ...(await checkRefused(compiler, copy)));
  faults.push(...(await checkBroken(compile, copy)));
  if (faults.length === 0)
    console.log(`Bicep: no warning, as in the snapshots, ${broken.length} broken samples refused`);
  return faults;
}

/** Does `work` on a copy of infra/, prints the faults and answers the exit code. */
async function withCopy(compiler, work) {
  const copy = join(mkdtempSync(join(tmpdir(), "taskgate-bicep-")), "infra");
  try {
    cpSync(infra, copy, { recursive: true });
    const compile = (environment, ...args) => run(compiler, copy, { args, environment });
    const { stdout: version } = await compile("dev", "--version");
    console.log(`${version.trim()}, ${compiler}`);
    const faults = await work(compile, copy, compiler);
    for (const fault of faults) console.error(fault.replaceAll(copy, "infra"));
    if (faults.length === 0) return 0;
    console.error("Format and snapshots anew: npm run bicep -- --write, then read the diff.");
    if (!version.includes(` ${pinned} `)) console.error(`They were written by ${pinned}.`);
    return 1;
  } finally {
    rmSync(dirname(copy), { recursive: true, force: true });
  }
}

function main(options) {
  if (options.includes("--restore")) {
    console.log(dirname(restoreCompiler()));
    return 0;
  }
  if (options.includes("--write")) return withCopy(findCompiler(), writeAnew);
  let compiler;
  try {
    compiler = findCompiler();
  } catch (error) {
    console.log(`Bicep compiler: skipped, ${error.message}`);
    return 0;
  }
  return withCopy(compiler, checkAll);
}

Promise.resolve(process.argv.slice(2))
  .then(main)
  .then((code) => (process.exitCode = code))
  .catch((error) => {
    console.error(`Bicep: ${error.message}`);
    process.exitCode = 1;
  });
