// The reference of the package's doors, read from the types and their comments by the TypeScript compiler.
"use strict";
const { relative } = require("node:path");
const ts = require("typescript");
const { docOf, doors, openDoors, root, tagOf, writtenMembers } = require("./door-types.cjs");

/** Markdown for all doors: a section for each, and in it one for each name that it exports. */
function apiReference() {
  const { checker, exportsOf } = openDoors();
  return doors
    .map(([door, file]) => {
      const names = exportsOf(file)
        .map((name) => describe(checker, name))
        .sort((one, other) => one.rank - other.rank || compare(one.name, other.name));
      return [`## ${door}`, ...names.map(({ text }) => text)].join("\n\n");
    })
    .join("\n\n");
}

const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

/** What is called stands first, then classes, then types. */
function describe(checker, exported) {
  const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
  const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
  const declarations = (symbol.declarations ?? []).filter(
    (declaration) => !ts.isFunctionDeclaration(declaration) || isPublic(declaration, symbol),
  );
  const [first] = declarations;
  const { name } = exported;
  const parts = [`### ${name}`];
  if (ts.isFunctionDeclaration(first)) {
    for (const declaration of declarations)
      parts.push(docOf(declaration), code(signatureOf(declaration)));
    return { name, rank: 0, text: join2(parts) };
  }
  parts.push(docOf(first));
  if (ts.isInterfaceDeclaration(first) || ts.isClassDeclaration(first)) {
    const isClass = ts.isClassDeclaration(first);
    const members = membersOf(checker, symbol, first, isOnlyType(exported));
    const heritage = (first.heritageClauses ?? []).filter(
      ({ token }) => isClass || token === ts.SyntaxKind.ExtendsKeyword,
    );
    if (isClass || (first.typeParameters ?? []).length > 0)
      parts.push(code(`${isClass ? "class" : "interface"} ${headOf(first, heritage)}`));
    parts.push(listOf(members));
    return { name, rank: isClass ? 1 : 2, text: join2(parts) };
  }
  parts.push(code(squeeze(first.getText().replace(/^export /, ""))));
  return { name, rank: 2, text: join2(parts) };
}

const join2 = (parts) => parts.filter((part) => part !== "").join("\n\n");
const code = (text) => `\`\`\`text\n${text}\n\`\`\``;
const squeeze = (text) => text.replace(/\n\s*\/\*\*[\s\S]*?\*\//g, "").trim();

/** Of overloaded functions the last declaration, the one with a body, can't be called. */
function isPublic(declaration, symbol) {
  const all = symbol.declarations.filter(ts.isFunctionDeclaration);
  return all.length === 1 || declaration.body === undefined;
}

function signatureOf(declaration) {
  const { body } = declaration;
  const text = declaration.getText();
  const head = body === undefined ? text : text.slice(0, body.getStart() - declaration.getStart());
  return squeeze(head)
    .replace(/^export (async )?function /, "")
    .replace(/;$/, "")
    .trim();
}

function headOf(declaration, heritage) {
  const types = (declaration.typeParameters ?? []).map((type) => type.getText()).join(", ");
  const own = `${declaration.name.text}${types === "" ? "" : `<${types}>`}`;
  return [own, ...heritage.map((clause) => clause.getText().replace(/\s+/g, " "))].join(" ");
}

/** A class whose type alone is exported: our code makes its instances. */
const isOnlyType = (exported) =>
  exported.declarations.some(
    (declaration) => ts.isExportSpecifier(declaration) && declaration.parent.parent.isTypeOnly,
  );

/** Own members and those of bases, each with its type and its comment. */
function membersOf(checker, symbol, declaration, isOnlyType) {
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const constructors =
    ts.isClassDeclaration(declaration) && !isOnlyType
      ? declaration.members.filter(ts.isConstructorDeclaration)
      : [];
  const properties = checker
    .getPropertiesOfType(type)
    .map((property) => property.valueDeclaration ?? property.declarations?.[0])
    .filter((member) => member !== undefined && isOurs(member) && !isHidden(member));
  return [...constructors, ...properties];
}

/** Members of the language's own classes, such as `stack` of Error, aren't told. */
const isOurs = (member) =>
  !relative(root, member.getSourceFile().fileName).includes("node_modules");
const isHidden = (member) =>
  ts.isPrivateIdentifier(member.name ?? member) ||
  (ts.getCombinedModifierFlags(member) &
    (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !==
    0;

/** A line for each member, and below it one for each documented member of a type that is written out there. */
function listOf(members, indent = "") {
  return members
    .map((member) => {
      const inner = writtenMembers(member).filter((one) => docOf(one) !== "");
      const own = `${indent}- \`${callOf(member)}\`\n${indent}  ${textOf(member)}`.trimEnd();
      return inner.length === 0 ? own : `${own}\n${listOf(inner, `${indent}  `)}`;
    })
    .join("\n");
}

/** The comment, and the tags that say which values there are. */
function textOf(member) {
  const said = [
    ["Default", tagOf(member, "default")],
    ["Range", tagOf(member, "range")],
  ].filter(([, text]) => text !== null);
  const advanced = tagOf(member, "advanced") === null ? [] : ["Advanced."];
  const labelled = said.map(([label, text]) => `${label}: ${text}.`);
  return [docOf(member), ...labelled, ...advanced].join(" ").trim();
}

function callOf(member) {
  const { body } = member;
  const text = member.getText();
  const head = body === undefined ? text : text.slice(0, body.getStart() - member.getStart());
  const isValue = ts.isPropertyDeclaration(member) && member.initializer !== undefined;
  const shown = isValue ? text.slice(0, member.initializer.getStart() - member.getStart()) : head;
  // A getter is read as a property.
  const read = ts.isGetAccessorDeclaration(member) ? shown.replace("()", "") : shown;
  return squeeze(read)
    .replace(/^(readonly|public|override|async|get) /g, "")
    .replace(/[;=\s]+$/, "")
    .replace(/\s+/g, " ");
}

module.exports = { apiReference };
