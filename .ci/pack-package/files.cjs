// What the package holds besides code and types: the SQL, one file per dialect; the files of the dashboard; the licences.
"use strict";
const {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} = require("node:fs");
const { dirname, join, relative } = require("node:path");
const { root, slashed } = require("./doors.cjs");

const isSql = /^shared\/store\/(mssql|postgres)\/sql\/(.+)$/;
/** Of the SQL's folders, what the product reads; the other files are for people and tests. */
const isRead = /(?:\.sql|(?:^|\/)order\.txt)$/;
const isCopied = /(?:\/dashboard\/ui\/[\w.-]+\.(?:css|html|js)|\/store\/mssql\/grant_user\.sql)$/;

/** Every file below `shared/` that isn't TypeScript, from the repository's root, ascending. */
function listOthers() {
  return readdirSync(join(root, "shared"), { recursive: true })
    .map((name) => join(root, "shared", String(name)))
    .filter((path) => statSync(path).isFile() && !path.endsWith(".ts"))
    .map((path) => slashed(relative(root, path)))
    .sort();
}

/** Writes SQL and assets. Throws for a file that is neither: it would be missing in the package. */
function writeAssets(folder, { version }) {
  const texts = { mssql: [], postgres: [] };
  for (const path of listOthers()) {
    const [, dialect, name] = isSql.exec(path) ?? [];
    if (dialect !== undefined) {
      if (isRead.test(name)) texts[dialect].push([name, readFileSync(join(root, path), "utf8")]);
    } else if (isCopied.test(path)) {
      const target = join(folder, path.replace(/^shared\//, "lib/"));
      mkdirSync(dirname(target), { recursive: true });
      cpSync(join(root, path), target);
    } else if (!path.endsWith(".md")) {
      throw new Error(`${path}: the package knows no place for it`);
    }
  }
  for (const [dialect, files] of Object.entries(texts)) {
    const target = join(folder, "lib", "store", dialect, "sql", "all.sql");
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, joinSql(`Taskgate ${version}, ${dialect}`, files));
  }
}

/**
 * The sample as `taskgate init --template flights` writes it: the files of functions/, by their paths, in one. None where
 * this copy of the repository has dropped the sample.
 */
function writeSample(folder) {
  if (!existsSync(join(root, "functions", "tasks", "flights"))) return;
  const files = readdirSync(join(root, "functions"), { recursive: true })
    .map((name) => `functions/${slashed(String(name))}`)
    .filter((path) => /\.(?:ts|sql)$/.test(path))
    .sort();
  const texts = files.map((path) => [path, readFileSync(join(root, path), "utf8")]);
  const target = join(folder, "lib", "init");
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, "flights.json"), JSON.stringify(Object.fromEntries(texts)));
}

/** One text of many, each below a line that names it (shared/store/sql-files.ts takes it apart). */
function joinSql(title, files) {
  const parts = files.map(([name, text]) => {
    if (!text.endsWith("\n") || /^--# /m.test(text) || text.includes("\r"))
      throw new Error(`${name}: expected lines that end in \\n and none that begins with \`--# \``);
    return `--# ${name}\n${text}`;
  });
  return `-- ${title}: \`npx taskgate migrate\` runs what follows. Each part has its name above it.\n${parts.join("")}`;
}

/** The licences of what is bundled. Throws for a package that has none of its own. */
function writeLicences(folder, packages) {
  const parts = packages.map((path) => {
    const { name, version, license, author } = JSON.parse(
      readFileSync(join(path, "package.json"), "utf8"),
    );
    const file = readdirSync(path).find((entry) => /^licen[cs]e(?:\.\w+)?$/i.test(entry));
    if (typeof license !== "string") throw new Error(`${name} has no licence: don't bundle it`);
    const by = typeof author === "string" ? author : (author?.name ?? "its authors");
    const text = file === undefined ? `Copyright ${by}` : readFileSync(join(path, file), "utf8");
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  const heading = "Code of these packages is part of the files in lib/.\n";
  writeFileSync(join(folder, "LICENCES.txt"), [heading, ...parts].join(`\n${"-".repeat(72)}\n\n`));
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  cpSync(join(root, "README.md"), join(folder, "README.md"));
}

module.exports = { writeAssets, writeLicences, writeSample };
