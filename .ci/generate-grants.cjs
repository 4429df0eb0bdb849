// Writes the grants of operations into roles.sql of both dialects, by the rights that the operations' objects name. `--check` only
// compares. Reads what was built.
"use strict";
const { readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..");
const begin = "-- Generated: npm run generate\n";
const end = "-- End of the generated part\n";

function loadOperations() {
  const load = (file) => require(join(root, "dist/shared/store/operations", file));
  return { ...load("index.js"), ...load("operation.js") };
}

/** Names of the operations whose least role is `right`, as `named` writes them, ascending. */
function namesOf(right, named) {
  const all = Object.values(loadOperations().operations);
  return all
    .filter((operation) => operation.right === right)
    .map(({ name }) => named(name))
    .sort();
}

function mssql() {
  const { toPascalCase } = loadOperations();
  const lines = (right, roles) =>
    namesOf(right, toPascalCase).map(
      (name) => `GRANT EXECUTE ON OBJECT::Taskgate.${name} TO ${roles};\nGO\n`,
    );
  return [
    ...lines("worker", "TaskgateWorker, TaskgateOperator"),
    ...lines("operator", "TaskgateOperator"),
  ].join("");
}

function postgres() {
  const { toSnakeCase } = loadOperations();
  const statement = (right, roles) => {
    const names = namesOf(right, toSnakeCase).map((name) => `  taskgate.${name}`);
    return `grant execute on function\n${names.join(",\n")}\n  to ${roles};\n`;
  };
  return (
    statement("worker", "taskgate_worker, taskgate_operator") +
    statement("operator", "taskgate_operator")
  );
}

const stale = [];
for (const [dialect, grants] of Object.entries({ mssql, postgres })) {
  const file = `shared/store/${dialect}/sql/roles.sql`;
  const text = readFileSync(join(root, file), "utf8");
  const [from, until] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || until < 0)
    throw new Error(`${file}: the markers of the generated part are missing`);
  const fresh = text.slice(0, from + begin.length) + grants() + text.slice(until);
  if (text === fresh) continue;
  if (process.argv.includes("--check")) stale.push(file);
  else writeFileSync(join(root, file), fresh);
}
if (stale.length > 0) {
  console.error(
    `Run \`npm run generate\`: ${stale.join(", ")} differ from the operations' rights.`,
  );
  process.exit(1);
}
