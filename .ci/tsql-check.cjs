// Runs Microsoft's T-SQL parser and schema model over shared/store/mssql/sql, where that tool lies beside the checkout. The model
// reads tables as they are made and nothing of ALTER TABLE .. ADD or DROP_EXISTING, so it gets a copy in which each added column
// stands in its table's CREATE TABLE, each index once, and each file of a folder in the order. Exits as the tool does: 0 no findings,
// 1 findings, 3 not checked. `--fold FOLDER TARGET` only makes the copy.
"use strict";

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const { join } = require("node:path");

const source = "shared/store/mssql/sql";

/**
 * Migrations with their added columns in the tables they are added to, and with indexes that are made anew in the place of the first
 * ones. Blank lines stay in the place of what moved, so that
 * findings behind it have their line.
 */
function foldMigrations(files) {
  const folded = files.map(({ name, text }) => ({ name, text }));
  for (const file of folded) {
    file.text = file.text.replace(
      /^ALTER TABLE (Taskgate\.\w+) ADD\b([\s\S]*?);[^\S\n]*(?=\n(?:GO\b|$))/gm,
      (all, table, columns) => {
        const made = new RegExp(
          `(^CREATE TABLE ${table.replace(".", "\\.")} \\([\\s\\S]*?)\\);[^\\S\\n]*(?=\\nGO\\b)`,
          "m",
        );
        const place = folded.find(({ text }) => made.test(text));
        if (place === undefined) throw new Error(`${file.name}: no migration makes ${table}`);
        place.text = place.text.replace(
          made,
          (_, start) => `${start}, ${withoutNotes(columns).replace(/\s+/g, " ").trim()});`,
        );
        return "\n".repeat(all.split("\n").length - 1);
      },
    );
    file.text = file.text.replace(
      /^CREATE (?:UNIQUE )?NONCLUSTERED INDEX (\w+) ON [^;]*?, DROP_EXISTING = ON\);/gm,
      (all, index) => {
        const made = new RegExp(`^CREATE (?:UNIQUE )?NONCLUSTERED INDEX ${index} ON [^;]*;`, "m");
        const place = folded.find(({ text }) => made.test(text));
        if (place === undefined || place === file)
          throw new Error(`${file.name}: no migration before it makes ${index}`);
        place.text = place.text.replace(made, () =>
          all.replace(", DROP_EXISTING = ON", "").replace(/\s+/g, " "),
        );
        return "\n".repeat(all.split("\n").length - 1);
      },
    );
    if (/^\s*ALTER TABLE \S+ (?:ADD|ALTER|DROP)\b/m.test(file.text))
      throw new Error(`${file.name}: an ALTER TABLE that can't be folded`);
  }
  return folded;
}

function withoutNotes(text) {
  return text.replace(/--[^\n]*/g, "");
}

function copyFolded(from, target) {
  fs.cpSync(from, target, { recursive: true });
  const folder = join(target, "migrations");
  const files = fs
    .readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => ({ name, text: fs.readFileSync(join(folder, name), "utf8") }));
  for (const { name, text } of foldMigrations(files)) fs.writeFileSync(join(folder, name), text);
  const order = join(target, "order.txt");
  fs.writeFileSync(order, unfoldFolders(fs.readFileSync(order, "utf8"), target));
}

/** An order in which each line that names a folder is replaced by its files, by name: the tool knows files alone. */
function unfoldFolders(order, root) {
  return order.replace(/^(\w+)\/$/gm, (_, folder) =>
    fs
      .readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".sql"))
      .sort()
      .map((name) => `${folder}/${name}`)
      .join("\n"),
  );
}

function main(args) {
  if (args[0] === "--fold") {
    copyFolded(args[1], args[2]);
    return 0;
  }
  const root = join(__dirname, "..");
  const tool = join(root, "../shared/tools/tsql-check/run");
  if (!fs.existsSync(tool)) {
    console.log("T-SQL model check: skipped, the tool is not beside this checkout");
    return 3;
  }
  const copy = fs.mkdtempSync(join(os.tmpdir(), "tsql-check-"));
  try {
    copyFolded(join(root, source), copy);
    const { status, stdout, stderr } = spawnSync(tool, [copy], { encoding: "utf8" });
    process.stdout.write(stdout.replaceAll(copy, source));
    process.stderr.write(stderr);
    if (status === 3) console.log("T-SQL model check: skipped, no .NET SDK here");
    return status ?? 1;
  } finally {
    fs.rmSync(copy, { recursive: true, force: true });
  }
}

if (require.main === module) process.exitCode = main(process.argv.slice(2));
module.exports = { foldMigrations };
