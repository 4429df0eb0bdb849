// The table of a task's options, from the tags of their comments: @default, @range, and @advanced for what few need. Members of the
// context that few need stand with them.
"use strict";
const ts = require("typescript");
const { docOf, openDoors, tagOf, writtenMembers } = require("./door-types.cjs");

const folder = "shared/worker/define";

/** Types that make up the options of `defineTask`. Those of a queue may be given to `defineQueue` as well. */
const optionTypes = [
  [`${folder}/define-task.ts`, "TaskOptions"],
  [`${folder}/define-task.ts`, "SchemaTaskOptions"],
  [`${folder}/kind-upgrade.ts`, "VersionOptions"],
];

/** Markdown: the common options, then the advanced ones under their own heading. */
function optionTable() {
  const rows = readOptions();
  const table = (isAdvanced) =>
    [
      "| option | of | type | default | range | meaning |",
      "| --- | --- | --- | --- | --- | --- |",
      ...rows.filter((row) => row.isAdvanced === isAdvanced).map(showRow),
    ].join("\n");
  const parts = ["## Options", table(false), "## Advanced", table(true), contextTable()];
  return parts.join("\n\n");
}

/** What few handlers need of their context. */
function contextTable() {
  const members = propertiesOf([`${folder}/task-context.ts`, "TaskContext"])
    .map(({ declarations: [declaration] }) => declaration)
    .filter((member) => tagOf(member, "advanced") !== null);
  const rows = members.map(
    (member) =>
      `| \`ctx.${member.name.getText()}\` | \`${member.type.getText()}\` | ${docOf(member)} |`,
  );
  return ["| of the context | type | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

function propertiesOf([file, name]) {
  const { checker, exportsOf } = openDoors();
  const symbol = exportsOf(file).find((exported) => exported.name === name);
  return checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol));
}

function readOptions() {
  const ofQueue = propertiesOf([`${folder}/define-queue.ts`, "QueueSettings"]);
  const isOfQueue = ({ parent }) =>
    ofQueue.some(({ declarations }) => declarations.some((one) => isWithin(parent, one.parent)));
  const rows = new Map();
  for (const property of optionTypes.flatMap(propertiesOf)) {
    // Of a union the part that says something.
    const declaration = property.declarations.find((one) => docOf(one) !== "");
    if (declaration === undefined || rows.has(property.name)) continue;
    rows.set(property.name, rowsOf(declaration, isOfQueue));
  }
  const all = [...rows.values()].flat();
  return [...all.filter(({ isFirst }) => isFirst), ...all.filter(({ isFirst }) => !isFirst)];
}

function isWithin(node, ancestor) {
  return node !== undefined && (node === ancestor || isWithin(node.parent, ancestor));
}

/** A row, and one for each member where the type is written out. */
function rowsOf(declaration, isOfQueue, from = { prefix: "", isAdvanced: false }) {
  const name = `${from.prefix}${declaration.name.getText()}`;
  const isAdvanced = from.isAdvanced || tagOf(declaration, "advanced") !== null;
  const members = writtenMembers(declaration);
  const given = tagOf(declaration, "default");
  const isNeeded = given === null && declaration.questionToken === undefined;
  if (given === null && !isNeeded && members.length === 0) throw new Error(`${name}: no @default`);
  const row = {
    name,
    of: isOfQueue(declaration) ? "queue" : "kind",
    type: members.length === 0 ? typeOf(declaration) : "object",
    default: isNeeded ? "needed" : showDefault(given ?? "that of each member"),
    range: tagOf(declaration, "range") ?? "",
    meaning: docOf(declaration),
    isAdvanced,
    isFirst: isNeeded && from.prefix === "",
  };
  const inner = { prefix: `${name}.`, isAdvanced };
  return [row, ...members.flatMap((member) => rowsOf(member, isOfQueue, inner))];
}

/** As written, without type arguments; one of many numbers is a number. */
function typeOf({ type }) {
  const { checker } = openDoors();
  const whole = checker.getTypeFromTypeNode(type);
  const { flags } = checker.getNonNullableType(whole);
  if ((flags & ts.TypeFlags.NumberLike) !== 0)
    return (whole.flags & ts.TypeFlags.Union) === 0 ? "number" : "number | null";
  const text = type.getText().replace(/\s+/g, " ");
  return text.includes("=>") ? text : text.replace(/<[\w, ]*(?:<\w+>)?>/g, "");
}

/** A value of TypeScript as code, other words as they are. */
function showDefault(text) {
  const isValue = /^(?:-?[\d,]+|null|true|false|\[\]|".*")$/.test(text);
  return isValue ? `\`${text}\`` : text;
}

function showRow(row) {
  const cells = [`\`${row.name}\``, row.of, `\`${row.type}\``, row.default, row.range, row.meaning];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

module.exports = { optionTable };
