import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseJsonWithComments } from "../core/json-comments";

/** Turns a copy of Taskgate's repository into an app on the package. */

/** What `taskgate eject` does in a copy. */
export interface EjectPlan {
  readonly root: string;
  /** Files and folders that are removed, with the number of their files. */
  readonly removed: readonly { readonly path: string; readonly files: number }[];
  /** Files that are written, over the ones of the same name. */
  readonly written: readonly { readonly path: string; readonly text: string }[];
}

/** How the app is called, and where the package comes from. */
export interface EjectWishes {
  readonly name: string;
  /** A version, or the address of a tarball: `file:../taskgate-0.2.0-pre.tgz`. */
  readonly packageSpec: string;
}

/** The product, its tests, its docs and the tools for them. Everything else is the app's. */
const productFiles = [
  ".github",
  ".markdownlint-cli2.jsonc",
  ".oxfmtrc.json",
  ".oxlintrc.json",
  ".ci",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "THIRD-PARTY.md",
  "coverage",
  "dist",
  "docs",
  "package-lock.json",
  "shared",
  "test",
] as const;

/** Members of package.json that belong to the repository of the package. */
const productMembers = ["bin", "description", "exports", "license", "workspaces"];

/** Dependencies that come with the package. */
const bundled = ["@azure/storage-queue", "@opentelemetry/api", "croner"];

/** Development packages of the repository that an app has no use for. */
const productTools = [
  /^@jest\//,
  /^@opentelemetry\/sdk-/,
  /^@rollup\//,
  /^@seriousme\/openapi-schema-validator$/,
  /^@swc\//,
  /^@types\/(?:mssql|pg)$/,
  /^@typescript\/native$/,
  /^ajv$/,
  /^dependency-cruiser$/,
  /^eslint/,
  /^axe-core$/,
  /^fast-check$/,
  /^jest/,
  /^knip$/,
  /^markdownlint-cli2$/,
  /^oxfmt$/,
  /^oxlint/,
  /^rollup/,
  /^tinyglobby$/,
];

/** Is a development package one of the repository's tools? An app keeps the others, its own among them. */
export function isProductTool(name: string): boolean {
  return productTools.some((tool) => tool.test(name));
}

/** Scripts of the repository that an app has no use for, or that are written anew. */
const productScripts =
  /^(?:start|build|typecheck|lint|format(?::fix)?|layers|deadcode|markdown|bicep|test(?::(?:unit|contract|fault|e2e|whole|orms))?|bench(?::peers)?|verify|histories|nightly|chaos|soak|drill|simulate:(?:tsql|workers)|behaviours|seeds|locks|(?:mutate|costs):tsql|migrate|pack:package|sbom|docs|generate|check)$/;

/** Plans the change of a copy. Throws an Error with a sentence for people where the folder holds none. */
export function planEject(root: string, wishes: EjectWishes): EjectPlan {
  for (const file of ["package.json", "shared/index.ts", "functions/index.ts", "azure.yaml"])
    if (!existsSync(join(root, file)))
      throw new Error(
        `${root} is no copy of Taskgate's repository: it has no ${file}. There is nothing to eject.`,
      );
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const removed = productFiles
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, files: countFiles(join(root, path)) }));
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const texts = {
    "package.json": json(ejectManifest(parseJsonWithComments(read("package.json")), wishes)),
    "tsconfig.json": json(ejectCompiler(parseJsonWithComments(read("tsconfig.json")))),
    ".funcignore": ignored,
    ".ci/copy-assets.cjs": copyAssets,
    "azure.yaml": read("azure.yaml").replace(/^name: .*$/m, `name: ${wishes.name}`),
    "README.md": readme(wishes.name),
  };
  const written = Object.entries(texts).map(([path, text]) => ({ path, text }));
  return { root, removed, written };
}

/** Makes the changes of a plan. */
export function applyEject({ root, removed, written }: EjectPlan): void {
  for (const { path } of removed)
    // The folder of the one script that stays is written anew.
    rmSync(join(root, path), { recursive: true, force: true, maxRetries: 3 });
  for (const { path, text } of written) {
    const folder = join(root, path, "..");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function countFiles(path: string): number {
  if (!statSync(path).isDirectory()) return 1;
  return readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  ).length;
}

type Members = Readonly<Record<string, unknown>>;

/** The app's manifest: its own dependencies and scripts stay. Pure. */
export function ejectManifest(value: unknown, { name, packageSpec }: EjectWishes): object {
  const manifest = value as Members;
  const rest = Object.fromEntries(
    Object.entries(manifest).filter(([member]) => !productMembers.includes(member)),
  );
  return {
    ...rest,
    name,
    version: "0.1.0",
    scripts: {
      start: "npm run --silent build && taskgate dev",
      build: "tsc && node .ci/copy-assets.cjs",
      watch: "tsc --watch --preserveWatchOutput",
      migrate: "taskgate migrate",
      ...without(manifest["scripts"], (script) => productScripts.test(script)),
    },
    dependencies: sorted({
      ...without(manifest["dependencies"], (dependency) => bundled.includes(dependency)),
      taskgate: packageSpec,
    }),
    devDependencies: without(manifest["devDependencies"], isProductTool),
    overrides: without(manifest["overrides"], (override) => override === "unrs-resolver"),
    allowScripts: without(manifest["allowScripts"], (script) => /swc|unrs|parcel/.test(script)),
  };
}

function without(members: unknown, isGone: (name: string) => boolean): Members {
  return Object.fromEntries(Object.entries((members ?? {}) as Members).filter(([n]) => !isGone(n)));
}

function sorted(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}

function ejectCompiler(value: unknown): object {
  const config = without(value, (member) => member === "exclude");
  return { ...config, include: ["functions/**/*.ts"] };
}

const ignored = `# Not deployed. node_modules itself is deployed (azure.yaml, remoteBuild: false).
/.ci/
/.git/
/.taskgate/
/.vscode/
/functions/
/infra/
/landing/
/azure.yaml
/local.settings.json
/tsconfig.json
*.d.ts
*.log
*.md
`;

const copyAssets = `// What the compiler leaves out, copied beside the compiled files: SQL of the app.
//   node .ci/copy-assets.cjs [folder, default dist]
"use strict";
const { cpSync, mkdirSync, readdirSync } = require("node:fs");
const { dirname, join, resolve } = require("node:path");

const root = join(__dirname, "..");
const dist = resolve(root, process.argv[2] ?? "dist");
for (const name of readdirSync(join(root, "functions"), { recursive: true })) {
  if (!name.endsWith(".sql")) continue;
  const target = join(dist, "functions", name);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, "functions", name), target);
}
`;

const readme = (name: string): string => `# ${name}

An app on Azure Functions with Taskgate.

\`\`\`sh
npm install --ignore-scripts
npm start
\`\`\`

The second command builds the app and runs it on this machine, with a database and queues. \`azd up\` deploys it.

A later version of Taskgate: \`npm update taskgate\`, then \`npx taskgate migrate\`.
`;
