import { execFile } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../functions/built-app";

/** Runs a program to its end. Rejects with what it wrote when it fails. */
export async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  // Settings of the npm that runs the tests (its folder, its script) are none of the app's.
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, ...options.env };
  try {
    const { stdout } = await promisify(execFile)(program, [...args], { cwd: options.cwd, env });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** The part of a manifest that tests read. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly main: string;
  readonly types?: string;
  readonly exports: Readonly<Record<string, string | { types: string; default: string }>>;
  readonly typesVersions?: Readonly<Record<"*", Readonly<Record<string, readonly string[]>>>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts?: unknown;
  readonly devDependencies?: unknown;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { optional: boolean }>>;
}

/** Reads `package.json` of a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** The tarball as npm makes it. Sizes in bytes. */
export interface Packed {
  /** Path of the tarball. */
  readonly file: string;
  readonly size: number;
  readonly unpackedSize: number;
  /** Paths below the package's folder. */
  readonly files: readonly string[];
}

/** Writes the package below `folder` and packs it, as the commands of docs/quickstart-existing-app.md do it in the checkout. */
export async function packInto(folder: string): Promise<Packed> {
  const made = join(folder, "package");
  const script = join(root, ".ci", "pack-package", "pack-package.cjs");
  await run(process.execPath, [script, made], { cwd: root });
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [tarball] = JSON.parse(await run("npm", args, { cwd: made })) as {
    filename: string;
    size: number;
    unpackedSize: number;
    files: { path: string }[];
  }[];
  if (tarball === undefined) throw new Error("npm pack told of no tarball");
  const { filename, size, unpackedSize, files } = tarball;
  return {
    file: join(folder, filename),
    size,
    unpackedSize,
    files: files.map(({ path }) => path).sort(),
  };
}

/** What npm notes of an installation. */
interface Installed {
  readonly packages: Readonly<Record<string, { readonly dependencies?: Record<string, string> }>>;
}

/** Bytes of a package and of all that is installed because of it, peers apart. */
export function installedBytes(app: string, name: string): number {
  const modules = join(app, "node_modules");
  const { packages } = JSON.parse(
    readFileSync(join(modules, ".package-lock.json"), "utf8"),
  ) as Installed;
  const names = new Set([name]);
  for (const each of names) {
    const entry = packages[`node_modules/${each}`];
    if (entry === undefined) throw new Error(`${each} is not at the top of node_modules`);
    for (const dependency of Object.keys(entry.dependencies ?? {})) names.add(dependency);
  }
  return [...names].reduce((sum, each) => sum + bytesBelow(join(modules, each)), 0);
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true })
    .map((name) => statSync(join(folder, String(name))))
    .filter((entry) => entry.isFile())
    .reduce((sum, { size }) => sum + size, 0);
}
