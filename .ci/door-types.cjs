// The types behind the package's doors, and their comments, as the TypeScript compiler reads them.
"use strict";
const { join } = require("node:path");
const ts = require("typescript");

const root = join(__dirname, "..");
const doors = [
  ["taskgate", "shared/index.ts"],
  ["taskgate/functions", "shared/functions/index.ts"],
  ["taskgate/testing", "shared/testing/index.ts"],
];

let opened = null;

/** Reads them once: that takes seconds. */
function openDoors() {
  if (opened !== null) return opened;
  const config = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const files = doors.map(([, file]) => join(root, file));
  const program = ts.createProgram(files, { ...options, incremental: false, noEmit: true });
  const checker = program.getTypeChecker();
  const exportsOf = (file) =>
    checker.getExportsOfModule(
      checker.getSymbolAtLocation(program.getSourceFile(join(root, file))),
    );
  opened = { checker, exportsOf };
  return opened;
}

/** The comment as Markdown: `<` outside of code would be taken for HTML. */
function docOf(node) {
  const texts = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return toMarkdown(texts.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "").join(" "));
}

/** What stands behind a tag; null without the tag. */
function tagOf(node, name) {
  const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === name);
  return tag === undefined ? null : toMarkdown(ts.getTextOfJSDocComment(tag.comment) ?? "");
}

function toMarkdown(text) {
  const flat = text.replace(/\s+/g, " ").trim();
  const parts = flat.split("`").map((part, at) => (at % 2 === 0 ? escapeText(part) : part));
  return parts.join("`");
}

const escapeText = (text) => text.replaceAll("<", "&lt;").replace(/([*_])/g, "\\$1");

/** Members of a type that is written out where it is used: `retry?: { attempts?: number }`. */
function writtenMembers(declaration) {
  if (declaration.type === undefined) return [];
  const { checker } = openDoors();
  const type = checker.getNonNullableType(checker.getTypeFromTypeNode(declaration.type));
  const members = checker
    .getPropertiesOfType(type)
    .map((property) => property.declarations?.[0])
    .filter((member) => member !== undefined);
  return members.every(({ parent }) => ts.isTypeLiteralNode(parent)) ? members : [];
}

module.exports = { docOf, doors, openDoors, root, tagOf, writtenMembers };
