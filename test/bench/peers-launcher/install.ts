import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** What the processes are started with. */
export interface Installed {
  /** The folder of their package. */
  readonly folder: string;
  /** A binary of Node 24 or later. */
  readonly node: string;
  readonly nodeVersion: string;
  readonly versions: Readonly<Record<string, string>>;
}

const nodeMajor = 24;
const measured = ["taskgate", "graphile-worker", "pg-boss", "bullmq", "ioredis", "pg"];

/** Packs this project as apps get it, and installs it beside the packages of `folder`. Throws an Error that names the cure. */
export function packAndInstall(root: string, folder: string): void {
  const npm = (words: readonly string[], cwd: string): string =>
    execFileSync("npm", words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  npm(["run", "--silent", "pack:package"], root);
  const packed = join(root, "dist", "package");
  npm(["pack", "--silent"], packed);
  const tarball = readdirSync(packed).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error(`npm pack left no tarball in ${packed}`);
  renameSync(join(packed, tarball), join(folder, "taskgate.tgz"));
  // A tarball of the same name and version isn't unpacked again.
  rmSync(join(folder, "node_modules"), { recursive: true, force: true });
  try {
    // The packages ask for a newer Node than npm may run in: it is among what is installed.
    npm(
      ["ci", "--ignore-scripts", "--no-engine-strict", "--loglevel=error", "--no-progress"],
      folder,
    );
  } catch (error) {
    const told = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    throw new Error(installProblem(told), { cause: error });
  }
}

/** What npm's words mean for the person who reads them. */
export function installProblem(told: string): string {
  const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.exec(told);
  const text = told.trim().slice(-1_000);
  if (offline === null) return `npm could not install the packages: ${text}`;
  return `npm can't reach its registry (${offline[0]}), and the packages come from there. With a network, run it again; --installed takes what an earlier run has installed.`;
}

/** Throws an Error that names the cure. */
export function findInstalled(folder: string): Installed {
  if (!existsSync(join(folder, "node_modules", "taskgate")))
    throw new Error("the peers aren't installed: run it once without --installed");
  const node = findNode(folder);
  const nodeVersion = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
  const versions = measured.map((name) => {
    const path = join(folder, "node_modules", name, "package.json");
    return [name, (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version];
  });
  return {
    folder,
    node,
    nodeVersion,
    versions: Object.fromEntries(versions) as Record<string, string>,
  };
}

/** npm brings a binary for Linux; elsewhere this process must be one. */
export function findNode(folder: string): string {
  const { platform, arch, execPath, versions } = process;
  const path = join(folder, "package.json");
  try {
    return createRequire(path).resolve(`node-${platform}-${arch}/bin/node`);
  } catch {
    if (Number(versions.node.split(".")[0]) >= nodeMajor) return execPath;
    throw new Error(
      `the packages need Node ${nodeMajor} or later: npm has its binary for Linux on x64 and arm64, not for ${platform} on ${arch}. Run this command with Node ${nodeMajor}.`,
    );
  }
}
