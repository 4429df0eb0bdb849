// The package's declarations: one file per door, and files for what several doors share, because a class that is
// declared twice is two types.
"use strict";
const { execFileSync } = require("node:child_process");
const { mkdirSync, mkdtempSync, rmSync } = require("node:fs");
const { isAbsolute, join, posix } = require("node:path");
const { rollup } = require("rollup");
const { dts } = require("rollup-plugin-dts");
const { listDoors, placeOf, root } = require("./doors.cjs");

/** What declarations may name: what an app has that uses the door. */
const known = { "./functions": /^(?:node:|@azure\/functions$)/ };
const knownElsewhere = /^node:/;

/**
 * Types of constructors' parameters: no app makes these objects, so no type of its own is inferred from them. `Limit` is
 * another name of `number | null`, which the compiler writes out.
 */
const inner = ["Limit", "Registry", "WorkerEnvironment"];

/**
 * Writes each source's own declarations with the repository's compiler and gives their folder to `use`. The roll-up's own
 * compiler would take eight times as long for them.
 */
async function withDeclarations(use) {
  const dist = join(root, "dist");
  mkdirSync(dist, { recursive: true });
  const made = mkdtempSync(join(dist, "declarations-"));
  try {
    const compiler = join(root, "node_modules", "@typescript", "native", "bin", "tsc");
    // The types are checked by `npm run typecheck` and `npm run build`.
    const options = [
      "--noCheck",
      "--emitDeclarationOnly",
      "--sourceMap",
      "false",
      "--outDir",
      made,
    ];
    const args = [compiler, "-p", join(root, "tsconfig.json"), ...options];
    execFileSync(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
    await use(made);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** `shared/index.ts` is declared by `shared/index.d.ts`. */
const declarationOf = (source) => source.replace(/\.ts$/, ".d.ts");

/**
 * Writes them below `folder`. Throws when a type is named by a door and exported by none (in an app that infers it the
 * compiler says TS2742), or when a door's types name a package that an app may lack.
 */
const writeDeclarations = (folder) => withDeclarations((made) => rollUp(made, folder));

async function rollUp(made, folder) {
  const doors = listDoors();
  const hidden = new Set();
  const bundle = await rollup({
    input: Object.fromEntries(
      Object.values(doors).map((file) => [
        placeOf(file).slice(0, -3),
        join(made, declarationOf(file)),
      ]),
    ),
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
    plugins: [dts({ tsconfig: join(root, "tsconfig.json") })],
    onwarn({ message }) {
      const [, names] = /references private shared type exports.*: ([\w, ]+)\./.exec(message) ?? [];
      if (names === undefined) throw new Error(`The declarations can't be rolled up: ${message}`);
      for (const name of names.split(", ")) if (!inner.includes(name)) hidden.add(name);
    },
  });
  const { output } = await bundle.write({
    dir: folder,
    format: "es",
    entryFileNames: "[name].d.ts",
    chunkFileNames: ({ name }) => `lib/parts/${name.replace(/\.d$/, "")}.d.ts`,
    hoistTransitiveImports: false,
  });
  await bundle.close();
  if (hidden.size > 0) {
    const names = [...hidden].sort().join(", ");
    throw new Error(
      `The doors name types that none of them exports. Export these from a door: ${names}`,
    );
  }
  refuseStrangers(doors, new Map(output.map((file) => [file.fileName, file])));
}

function refuseStrangers(doors, byName) {
  for (const [door, source] of Object.entries(doors)) {
    const file = posix.normalize(placeOf(source).replace(/\.js$/, ".d.ts"));
    const strangers = importsOf(file, byName).filter(
      (name) => !(known[door] ?? knownElsewhere).test(name),
    );
    if (strangers.length > 0)
      throw new Error(`The types of ${door} name ${strangers.join(", ")}, which an app may lack`);
  }
}

/** Every package that a file names, itself or through the files that it imports. */
function importsOf(start, byName) {
  const seen = new Set([start]);
  const packages = new Set();
  for (const name of seen) {
    for (const target of byName.get(name)?.imports ?? []) {
      if (byName.has(target)) seen.add(target);
      else packages.add(target);
    }
  }
  return [...packages];
}

module.exports = { writeDeclarations };
