import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CompilerFolders } from "./compiler-folders";

/** The first TypeScript that reads the declarations which `azurite` brings (`@types/readable-stream` names it). */
const readsAll = { major: 5, minor: 6 } as const;

/**
 * Advice on tsconfig.json, a sentence or two each. `azurite`, a development dependency, brings declarations that older compilers
 * call wrong; a compiler that checks every package below node_modules/@types then fails the app's build.
 */
export function adviseOnCompiler(
  root: string,
  manifest: Readonly<Record<string, unknown>>,
  compiler: Pick<CompilerFolders, "checksAllTypes"> | null,
): string[] {
  if (compiler?.checksAllTypes !== true) return [];
  const version = typeScriptOf(root, manifest);
  if (version === null || isNewer(version)) return [];
  return [
    `tsconfig.json: TypeScript ${version} calls declarations wrong that azurite brings (@types/readable-stream), and the build fails. Add "types": ["node"] or "skipLibCheck": true to compilerOptions, or take TypeScript 5.6.`,
  ];
}

/** The installed version, else the major one that package.json allows; null: not known, or the newest 5. */
function typeScriptOf(root: string, manifest: Readonly<Record<string, unknown>>): string | null {
  const path = join(root, "node_modules", "typescript", "package.json");
  if (existsSync(path)) {
    const { version } = JSON.parse(readFileSync(path, "utf8")) as { version?: unknown };
    if (typeof version === "string") return version;
  }
  const sections = [manifest["devDependencies"], manifest["dependencies"]];
  const ranges = sections.map((section) =>
    typeof section === "object" && section !== null
      ? (section as Record<string, unknown>)["typescript"]
      : undefined,
  );
  const range = ranges.find((each) => typeof each === "string");
  const major = typeof range === "string" ? (/\d+/.exec(range)?.[0] ?? null) : null;
  return major !== null && Number(major) < readsAll.major ? major : null;
}

function isNewer(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > readsAll.major || (major === readsAll.major && minor >= readsAll.minor);
}
