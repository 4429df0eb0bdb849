// Writes shared/store/<dialect>/sql/migrations/frozen.json: the SHA-256 of every migration. A new file is added; one that
// is listed and was changed is refused: databases remember what they were made with. Before the first release, while no
// database has to be kept, `--thaw` takes the new hashes.
"use strict";

const { createHash } = require("node:crypto");
const { existsSync, readFileSync, readdirSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..");
const isThawed = process.argv.includes("--thaw");
const changed = [];

for (const dialect of ["postgres", "mssql"]) {
  const folder = join(root, "shared/store", dialect, "sql/migrations");
  const list = join(folder, "frozen.json");
  const known = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : {};
  const hashes = {};
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()) {
    hashes[file] = createHash("sha256")
      .update(readFileSync(join(folder, file), "utf8"))
      .digest("hex");
  }
  for (const [file, hash] of Object.entries(known)) {
    if (hashes[file] !== hash)
      changed.push(`${dialect}: ${file} ${file in hashes ? "was changed" : "is gone"}`);
  }
  if (changed.length === 0 || isThawed) writeFileSync(list, `${JSON.stringify(hashes, null, 2)}\n`);
}
if (changed.length > 0 && !isThawed) {
  console.error(
    `Frozen migrations are never edited; add a new one instead.\n- ${changed.join("\n- ")}`,
  );
  process.exit(1);
}
