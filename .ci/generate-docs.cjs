// Writes the generated parts of docs/reference/: between the two marker lines of each page. `--check` only compares.
"use strict";
const { readFileSync, readdirSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { apiReference } = require("./api-reference.cjs");
const { optionTable } = require("./option-table.cjs");

const root = join(__dirname, "..");
const begin = "<!-- generated: npm run docs -->";
const end = "<!-- end of the generated part -->";

/** Pages and how their generated parts are made. */
const pages = {
  "docs/reference/settings.md": settings,
  "docs/reference/errors.md": errors,
  "docs/reference/sql.md": sql,
  "docs/reference/cli.md": cli,
  "docs/reference/http-api.md": http,
  "docs/reference/task-options.md": optionTable,
  "docs/reference/typescript.md": apiReference,
};

function settings() {
  const { settingsTable } = require(join(root, "dist/shared/settings/settings.js"));
  const rows = settingsTable.map((entry) => {
    const range =
      entry.min === undefined
        ? ""
        : `${entry.min}..${entry.max}${entry.unit ? ` ${entry.unit}` : ""}`;
    const fallback =
      entry.default === null || entry.default === undefined ? "" : `\`${entry.default}\``;
    return `| \`${entry.name}\` | ${entry.type} | ${fallback} | ${range} | ${entry.sentence.replaceAll("|", "\\|")} |`;
  });
  return [
    "| setting | type | default | range | meaning |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

/** A section for each command, from the tables that the program reads its command line by. */
function cli() {
  const { commands } = require(join(root, "dist/shared/cli/commands.js"));
  const { groupTitles, showOption, usageOf } = require(join(root, "dist/shared/cli/help.js"));
  // Words that are typed as they stand.
  const withCode = ({ sentence, values }) =>
    (Array.isArray(values) ? values : []).reduce(
      (text, word) => text.replaceAll(new RegExp(`\\b${word}\\b`, "g"), `\`${word}\``),
      sentence,
    );
  const bar = (text) => text.replaceAll("|", "\\|");
  return commands
    .map((command) => {
      const options = Object.entries(command.options).map(
        ([name, option]) => `| \`${bar(showOption(name, option))}\` | ${bar(withCode(option))} |`,
      );
      const examples = command.examples.map(({ line, sentence }) => `# ${sentence}\n${line}`);
      return [
        `## ${command.name}`,
        `\`taskgate ${usageOf(command)}\` (${groupTitles[command.group].toLowerCase()}). ${command.sentence}${command.alias === undefined ? "" : ` Also \`taskgate ${command.alias}\`.`}`,
        ...(command.details ?? "").split("\n").filter((line) => line !== ""),
        ...(options.length === 0
          ? []
          : [["| option | meaning |", "| --- | --- |", ...options].join("\n")]),
        `<!-- examples-${command.name} -->`,
        ["```sh", ...examples, "```"].join("\n"),
      ].join("\n\n");
    })
    .join("\n\n");
}

/** A row for each route, with the sentence of the OpenAPI document. */
function http() {
  const { createApiRoutes } = require(join(root, "dist/shared/functions/api/routes.js"));
  const { descriptions } = require(join(root, "dist/shared/functions/api/openapi/descriptions.js"));
  const rows = createApiRoutes(() => Promise.reject(new Error("no request is made"))).map(
    ({ name, methods, route }) => [`${methods[0]} ${route}`, descriptions[name].summary],
  );
  rows.push(
    ["GET results", "Shows the app's own result tables, as its `results` reads them"],
    ["GET dashboard/{file?}", "Shows the dashboard: static files without data, open without a key"],
  );
  return alignedTable([
    ["route", "meaning"],
    ...rows.map(([route, text]) => [`\`${route}\``, text]),
  ]);
}

/** As the formatter leaves a table: the page is formatted, too. */
function alignedTable([head, ...rows]) {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at].length)));
  const line = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function errors() {
  const { errorCodes } = require(join(root, "dist/shared/core/errors.js"));
  const rows = Object.entries(errorCodes).map(([code, entry]) => {
    const numbers =
      entry.sql === null ? "" : `504${String(entry.sql % 100).padStart(2, "0")}, TG${entry.sql}`;
    return `| \`${code}\` | ${numbers} | ${entry.meaning} |`;
  });
  const codes = ["| code | T-SQL, PostgreSQL | meaning |", "| --- | --- | --- |", ...rows].join(
    "\n",
  );
  return [codes, troubles()].join("\n\n");
}

/** What each database says when it can't now, from the tables that the adapters decide by. */
function troubles() {
  const { postgresTroubles } = require(
    join(root, "dist/shared/store/postgres/postgres-troubles.js"),
  );
  const { mssqlTroubles } = require(join(root, "dist/shared/store/mssql/mssql-troubles.js"));
  const code = (trouble) => `\`TASKGATE_STORE_${trouble.toUpperCase()}\``;
  return [
    "## When the database can't",
    "",
    "Each of these is repeated, or told as temporary (HTTP 503 or 504, exit code 4). A task whose own transaction meets one comes back uncounted, after 1 s to 1 min; the sixteenth in a row of one process counts as its failure.",
    "",
    "| PostgreSQL | code | meaning |",
    "| --- | --- | --- |",
    ...postgresTroubles.map((row) => `| ${row.state} | ${code(row.trouble)} | ${row.meaning} |`),
    "",
    "| SQL Server, Azure SQL | code | meaning |",
    "| --- | --- | --- |",
    ...mssqlTroubles.map(
      (row) => `| ${row.numbers.join(", ")} | ${code(row.trouble)} | ${row.meaning} |`,
    ),
  ].join("\n");
}

function sql() {
  const folder = join(root, "shared/store/postgres/sql/functions");
  const files = readdirSync(folder)
    .filter((file) => file.endsWith(".sql") && !file.startsWith("_"))
    .sort();
  return files
    .map((file) => operation(file.replace(/\.sql$/, ""), readFileSync(join(folder, file), "utf8")))
    .join("\n\n");
}

/** One heading per operation, from the header of its PL/pgSQL file; the T-SQL twin has the same under mapped names. */
function operation(name, text) {
  const lines = text
    .split("\n")
    .filter((line, index, all) => all.slice(0, index + 1).every((other) => other.startsWith("--")));
  const sections = [];
  for (const line of lines) {
    const label = /^-- ([A-Z][a-z]+):\s*(.*)$/.exec(line);
    const first = /^-- taskgate\.\w+: (.*)$/.exec(line);
    if (first) sections.push({ label: null, text: [first[1]] });
    else if (label) sections.push({ label: label[1], text: [label[2]] });
    else sections.at(-1)?.text.push(line.replace(/^--\s*/, ""));
  }
  const pascal = name
    .split("_")
    .map((word) => word[0].toUpperCase() + word.slice(1))
    .join("");
  const twin = readFileSync(join(root, `shared/store/mssql/sql/procedures/${pascal}.sql`), "utf8");
  const shown = sections.filter(
    (section) => !["Twin", "Plan"].includes(section.label) && section.text.join("") !== "-",
  );
  const body = shown.map((section) => {
    const sentence = section.text
      .join(" ")
      .replaceAll("<", "&lt;")
      .replaceAll("_", "\\_")
      .replaceAll("|", "\\|");
    return section.label === null
      ? `${sentence[0].toUpperCase()}${sentence.slice(1)}\n`
      : `- **${section.label}**: ${sentence}`;
  });
  const [sentence, ...rest] = body;
  const calls = [
    `- **PostgreSQL**: ${inCode(functionParameters(name, text))}`,
    `- **T-SQL**: ${inCode(procedureParameters(pascal, twin))}`,
  ];
  const lists = [...calls, ...rest].join("\n");
  return `## ${name}\n\n\`taskgate.${name}\` / \`Taskgate.${pascal}\`. ${sentence}\n${lists}`;
}

/** What a call gives to a PL/pgSQL function: names, types and defaults as they stand in its file, without what it answers. */
function functionParameters(name, text) {
  const from = text.indexOf("(", text.indexOf(`create or replace function taskgate.${name}(`));
  let depth = 0;
  let until = from;
  do {
    if (text[until] === "(") depth += 1;
    if (text[until] === ")") depth -= 1;
    until += 1;
  } while (depth > 0);
  const each = text.slice(from + 1, until - 1).split(/,\s*(?=(?:out|p_\w+) )/);
  return each.map((one) => one.trim()).filter((one) => one.startsWith("p_"));
}

/** The same of a T-SQL procedure. */
function procedureParameters(pascal, text) {
  const found = new RegExp(`^CREATE OR ALTER PROCEDURE Taskgate\\.${pascal}\\s+([^]*?)^AS$`, "m");
  const each = (found.exec(text)?.[1] ?? "").split(/,\s*(?=@)/);
  return each.map((one) => one.trim()).filter((one) => one !== "");
}

function inCode(parameters) {
  return parameters.length === 0 ? "no parameters" : `\`${parameters.join(", ")}\``;
}

function render(page) {
  const path = join(root, page);
  const text = readFileSync(path, "utf8");
  const from = text.indexOf(begin);
  const until = text.indexOf(end);
  if (from < 0 || until < 0)
    throw new Error(`${page}: the markers of the generated part are missing`);
  return {
    path,
    text,
    fresh: `${text.slice(0, from + begin.length)}\n\n${pages[page]()}\n\n${text.slice(until)}`,
  };
}

const stale = [];
for (const page of Object.keys(pages)) {
  const { path, text, fresh } = render(page);
  if (text === fresh) continue;
  if (process.argv.includes("--check")) stale.push(page);
  else writeFileSync(path, fresh);
}
if (stale.length > 0) {
  console.error(`Run \`npm run docs\`: ${stale.join(", ")} differ from the code.`);
  process.exit(1);
}
