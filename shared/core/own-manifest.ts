import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Folders above this file that are looked into: the package's is two (sources) or three (compiled) above. */
const levelsMax = 4;

/** The part of the package.json of this code that is read. */
interface OwnManifest {
  readonly version?: unknown;
  /** Of the published package: what the repository has in its other sections. */
  readonly tested?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The version in the package.json of this code, such as 1.2.0; 0.0.0 where none is found. */
export function readVersion(): string {
  const { version } = readOwnManifest();
  return typeof version === "string" ? version : "0.0.0";
}

/** The version of a package that this version of Taskgate was tested with. Throws where it names none. */
export function testedVersion(name: string): string {
  const { dependencies, devDependencies, tested } = readOwnManifest();
  const version = (tested ?? { ...devDependencies, ...dependencies })[name];
  if (version === undefined) throw new Error(`The package.json of Taskgate names no ${name}.`);
  return version;
}

function readOwnManifest(): OwnManifest {
  let folder = __dirname;
  for (let level = 0; level < levelsMax; level += 1) {
    const path = join(folder, "package.json");
    if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8")) as OwnManifest;
    folder = dirname(folder);
  }
  return {};
}
