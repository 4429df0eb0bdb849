// The package's JavaScript: one file per door, command and program, and files for what several of them share. Each
// class is there once, so that an error of one door is an instance of its class in another.
"use strict";
const { builtinModules } = require("node:module");
const { join, posix, relative } = require("node:path");
const commonjs = require("@rollup/plugin-commonjs");
const { nodeResolve } = require("@rollup/plugin-node-resolve");
const { transform } = require("@swc/core");
const { rollup } = require("rollup");
const { listCommands, listDoors, placeOf, programs, root, slashed } = require("./doors.cjs");

/** Files that a source loads when it needs them, instead of with itself. */
const loadedLater = /(?:\bload|\brequireLater|\bcreateRequire\(__filename\))\(\s*"(\.[^"]+)"/g;

/** A source's path below the repository, null for packages. */
function sourcePath(id) {
  const path = relative(root, id);
  return path.startsWith("..") || path.startsWith("node_modules") || !id.endsWith(".ts")
    ? null
    : slashed(path);
}

/** TypeScript to JavaScript; comments stay. */
const compile = {
  name: "compile",
  async transform(code, id) {
    if (!id.endsWith(".ts")) return null;
    const { code: compiled } = await transform(code, {
      filename: id,
      swcrc: false,
      jsc: { target: "es2023", parser: { syntax: "typescript" }, preserveAllComments: true },
      module: { type: "es6" },
    });
    return { code: compiled, map: null };
  },
};

/**
 * What a source reads or loads by its own place lies at the same place below `lib/`. A file that is shared by several
 * doors lies elsewhere, so its `__dirname` and `__filename` are written down.
 */
const keepPlaces = {
  name: "keep-places",
  transform(code, id) {
    const source = sourcePath(id);
    if (source === null) return null;
    for (const [, target] of code.matchAll(loadedLater)) {
      const file = posix.join(posix.dirname(source), `${target}.ts`);
      this.emitFile({ type: "chunk", id: join(root, file), fileName: placeOf(file) });
    }
    const program = programs[source];
    if (program !== undefined)
      this.emitFile({ type: "chunk", id: join(root, program), fileName: placeOf(program) });
    if (!source.startsWith("shared/"))
      throw new Error(`${source} is the app's: the package can't hold it`);
    const place = placeOf(source);
    const placed = code
      .replace(/\b__dirname\b/g, `placeBelow("${posix.dirname(place)}")`)
      .replace(/\b__filename\b/g, `placeBelow("${place}")`);
    return placed === code ? null : { code: placed, map: null };
  },
  renderChunk(code, { fileName }) {
    if (!code.includes("placeBelow(")) return null;
    const up = posix.relative(posix.dirname(fileName), "") || ".";
    const line = `const placeBelow = (path) => require("node:path").resolve(typeof __dirname === "string" ? __dirname : "", "${up}", path);`;
    return { code: code.replace("'use strict';", `'use strict';\n${line}`), map: null };
  },
};

/** What is left to the app, or to npm, to install. */
function createExternal(manifest) {
  const names = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  return (id) =>
    id.startsWith("node:") ||
    builtinModules.includes(id) ||
    names.some((name) => id === name || id.startsWith(`${name}/`));
}

/** Writes the files and returns what they hold: `{ files, packages }`, packages as folders below node_modules. */
async function writeJavaScript(folder, manifest) {
  const inputs = [...Object.values(listDoors()), ...Object.values(listCommands())];
  const bundle = await rollup({
    input: Object.fromEntries(inputs.map((file) => [placeOf(file).slice(0, -3), join(root, file)])),
    external: createExternal(manifest),
    plugins: [
      nodeResolve({
        extensions: [".ts", ".mjs", ".js"],
        exportConditions: ["node"],
        preferBuiltins: true,
      }),
      compile,
      keepPlaces,
      commonjs({ extensions: [".js", ".cjs"] }),
    ],
    onwarn: refuseWarning,
  });
  const { output } = await bundle.write({
    dir: folder,
    format: "cjs",
    exports: "named",
    interop: "auto",
    esModule: false,
    generatedCode: "es2015",
    entryFileNames: "[name].js",
    chunkFileNames: "lib/parts/[name].js",
    hoistTransitiveImports: false,
  });
  await bundle.close();
  const packages = new Set();
  for (const { modules } of output)
    for (const id of Object.keys(modules)) {
      const name = /^\0?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(slashed(id))?.[1];
      if (name !== undefined) packages.add(name);
    }
  return { files: output.map(({ fileName }) => fileName), packages: [...packages].sort() };
}

/** A circle or a comment inside a package that we take over is that package's matter; everything else ends the build. */
function refuseWarning(warning) {
  const isTheirs = (warning.ids ?? [warning.id ?? ""]).every((id) => id.includes("node_modules"));
  const theirs = ["CIRCULAR_DEPENDENCY", "INVALID_ANNOTATION", "THIS_IS_UNDEFINED"];
  if (isTheirs && theirs.includes(warning.code)) return;
  throw new Error(`The package can't be bundled: ${warning.message}`);
}

module.exports = { writeJavaScript };
