import type { Batch, TsqlFile } from "./files";
import { NameCheck } from "./names";
import { addedTo, readColumns } from "./schema";
import type { Parameter, Relation, Schema } from "./schema";
import {
  LexicalFault,
  isGroup,
  isName,
  isPartWrite,
  isSymbol,
  isWord,
  qualifiedAt,
  splitAt,
  splitList,
  tokenise,
  toTree,
} from "./tokens";
import type { Fault, Node, Token } from "./tokens";
import {
  functions,
  keywords,
  otherNames,
  systemObjects,
  systemVariables,
  types,
} from "./vocabulary";

/** Everything that the closed vocabulary and the names have against one file. */
export function checkFile(file: TsqlFile, schema: Schema): Fault[] {
  const given = new Set(
    [...(/^-- In:.*(?:\n-- {2}.*)*/m.exec(file.text)?.[0] ?? "").matchAll(/@\w+/g)].map(String),
  );
  return file.batches.flatMap((batch) => checkBatch(batch, schema, given));
}

function checkBatch(batch: Batch, schema: Schema, given: ReadonlySet<string>): Fault[] {
  try {
    const tokens = tokenise(batch.text, batch.line);
    const tree = toTree(tokens);
    const tables = new Map<string, Relation>();
    const faults = checkDeclarations(tree, { schema, tables });
    // A script whose header names variables gets them from its caller.
    const isObject = tokens.some((token) => isWord(token, "PROCEDURE", "FUNCTION"));
    const names = new NameCheck(schema, tables);
    for (const statement of splitAt(tree, (node) => isSymbol(node, ";"))) {
      names.checkStatement(statement);
    }
    return [
      ...faults,
      ...checkWords(tokens, { schema, own: ownNames(tree, tables) }),
      ...checkVariables(tokens, isObject ? new Set() : given),
      ...checkBlocks(tokens),
      ...checkCalls(tree, schema),
      ...names.faults,
    ];
  } catch (error) {
    if (!(error instanceof LexicalFault)) throw error;
    return [{ line: error.line, rule: "it can be read", message: error.message }];
  }
}

/** Table variables and their types, parameters of table types, column lists of tables and types. */
function checkDeclarations(
  nodes: readonly Node[],
  found: { schema: Schema; tables: Map<string, Relation> },
): Fault[] {
  const faults: Fault[] = [];
  nodes.forEach((node, index) => {
    const next = nodes[index + 1];
    const list = nodes[index + 2];
    if (node.kind === "variable") {
      const type = found.schema.types.get(qualifiedAt(nodes, index + 1) ?? "");
      if (type !== undefined) found.tables.set(node.text, type);
      if (isWord(next, "TABLE") && isGroup(list)) {
        const read = readColumns(list.nodes);
        found.tables.set(node.text, read);
        faults.push(...read.faults);
      }
    }
    if (isWord(node, "TABLE") && qualifiedAt(nodes, index + 1) !== null) {
      const columns = nodes[index + 4];
      if (isGroup(columns)) faults.push(...readColumns(columns.nodes).faults);
      if (isWord(nodes[index - 1], "ALTER"))
        faults.push(...readColumns(addedTo(nodes, index + 1)?.items ?? []).faults);
    }
    if (isWord(node, "AS") && isWord(next, "TABLE") && isGroup(list)) {
      faults.push(...readColumns(list.nodes).faults);
    }
  });
  return faults;
}

/** What the batch itself names: aliases, common table expressions, columns of its own tables. */
function ownNames(nodes: readonly Node[], tables: ReadonlyMap<string, Relation>): Set<string> {
  const names = new Set([...tables.values()].flatMap((table) => [...table.columns.keys()]));
  const visit = (list: readonly Node[]): void => {
    list.forEach((node, index) => {
      const next = list[index + 1];
      if (isGroup(node)) visit(node.nodes);
      if (isWord(node, "AS") && isName(next)) names.add(next.text);
      // `AS a (D)` and OPENJSON's `WITH (Column type ..)`.
      const columns = list[index + 2];
      if (isWord(node, "AS") && isName(next) && !isWord(next, "TABLE") && isGroup(columns)) {
        columns.nodes.filter(isName).forEach((name) => names.add(name.text));
      }
      if (isWord(node, "WITH") && isGroup(next) && isGroup(list[index - 1])) {
        for (const name of readColumns(next.nodes).columns.keys()) names.add(name);
      }
      if (isName(node) && isWord(next, "AS") && isGroup(columns)) names.add(node.text);
    });
  };
  visit(nodes);
  return names;
}

/** Every bare word is one of the listed ones, or a name. */
function checkWords(
  tokens: readonly Token[],
  known: { schema: Schema; own: ReadonlySet<string> },
): Fault[] {
  const { schema, own } = known;
  const ours = schemaNames(schema);
  const faults: Fault[] = [];
  tokens.forEach((token, index) => {
    if (token.kind === "system" && !systemVariables.has(token.text)) {
      faults.push({ line: token.line, rule: "every word is known", message: token.text });
    }
    if (token.kind !== "word" || isSymbol(tokens[index - 1], ".")) return;
    if (isSymbol(tokens[index + 1], ".")) {
      checkQualified(tokens, index, { schema, own, faults });
      return;
    }
    const isFunction = functions.has(token.text) && isSymbol(tokens[index + 1], "(");
    if (isFunction || own.has(token.text) || ours.has(token.text)) return;
    if (keywords.has(token.text) || types.has(token.text) || otherNames.has(token.text)) return;
    faults.push({ line: token.line, rule: "every word is known", message: token.text });
  });
  return faults;
}

function checkQualified(
  tokens: readonly Token[],
  index: number,
  known: { schema: Schema; own: ReadonlySet<string>; faults: Fault[] },
): void {
  const { schema, own, faults } = known;
  const token = tokens[index];
  const name = qualifiedAt(tokens, index);
  if (token === undefined || name === null) return;
  if (isPartWrite(tokens, index) && schemaNames(schema).has(token.text)) return;
  const isOurs = schema.others.has(token.text) || token.text === "sys";
  if (isOurs ? isObject(schema, name) : own.has(token.text) || otherNames.has(token.text)) return;
  faults.push({ line: token.line, rule: "every object exists", message: name });
}

function isObject(schema: Schema, name: string): boolean {
  return (
    schema.relations.has(name) ||
    schema.types.has(name) ||
    schema.procedures.has(name) ||
    schema.functions.has(name) ||
    schema.others.has(name) ||
    systemObjects.has(name)
  );
}

const namesOf = new WeakMap<Schema, Set<string>>();

/** Columns, indexes, constraints, roles and schemas of the whole tree. */
function schemaNames(schema: Schema): Set<string> {
  const known = namesOf.get(schema);
  if (known !== undefined) return known;
  const relations = [...schema.relations.values(), ...schema.types.values()];
  const names = new Set([
    ...relations.flatMap((relation) => [...relation.columns.keys()]),
    ...schema.indexes.keys(),
    ...schema.others,
  ]);
  namesOf.set(schema, names);
  return names;
}

/** Every variable is declared before it is used; its name's case counts. */
function checkVariables(tokens: readonly Token[], given: ReadonlySet<string>): Fault[] {
  const declared = new Set(given);
  const faults: Fault[] = [];
  let isDeclaring = false;
  let depth = 0;
  tokens.forEach((token, index) => {
    if (isSymbol(token, "(")) depth += 1;
    if (isSymbol(token, ")")) depth -= 1;
    if (isWord(token, "DECLARE", "PROCEDURE", "FUNCTION")) isDeclaring = true;
    if (isSymbol(token, ";") || isWord(token, "AS", "RETURNS"))
      isDeclaring = isDeclaring && depth > 0;
    if (token.kind !== "variable") return;
    const next = tokens[index + 1];
    const before = tokens[index - 1];
    // `@Name type` after DECLARE, a comma or an opening parenthesis; `@Name Schema.Type`; `@Name TABLE`.
    const isPlace = isWord(before, "DECLARE") || isSymbol(before, ",", "(") || isName(before);
    if (
      isDeclaring &&
      isPlace &&
      (isName(next) || isWord(next, "TABLE")) &&
      !isWord(next, "AS", "OUTPUT")
    ) {
      if (declared.has(token.text))
        faults.push({ line: token.line, rule: "a variable is declared once", message: token.text });
      declared.add(token.text);
      return;
    }
    if (isArgumentName(tokens, index)) return;
    if (!declared.has(token.text)) {
      faults.push({ line: token.line, rule: "every variable is declared", message: token.text });
    }
  });
  return faults;
}

/** `EXEC Taskgate.P @A = @b, @C = ..`: the names on the left belong to the procedure. */
function isArgumentName(tokens: readonly Token[], index: number): boolean {
  if (!isSymbol(tokens[index + 1], "=")) return false;
  for (let at = index; at >= 0; at -= 1) {
    const token = tokens[at];
    if (isSymbol(token, ";") || isWord(token, "SELECT", "SET", "WHERE", "IF", "UPDATE"))
      return false;
    if (isWord(token, "EXEC")) return at < index - 1;
  }
  return false;
}

/** BEGIN and CASE have their END, TRY and CATCH theirs. */
function checkBlocks(tokens: readonly Token[]): Fault[] {
  const open: { word: string; line: number }[] = [];
  const faults: Fault[] = [];
  tokens.forEach((token, index) => {
    const next = tokens[index + 1];
    if (isWord(token, "CASE")) open.push({ word: "CASE", line: token.line });
    if (isWord(token, "BEGIN") && !isWord(next, "TRANSACTION")) {
      open.push({ word: isWord(next, "TRY", "CATCH") ? next.text : "BEGIN", line: token.line });
    }
    if (!isWord(token, "END")) return;
    const block = open.pop();
    const word = isWord(next, "TRY", "CATCH") ? next.text : null;
    if (
      block === undefined ||
      (word !== null && block.word !== word) ||
      (word === null && ["TRY", "CATCH"].includes(block.word))
    ) {
      faults.push({
        line: token.line,
        rule: "blocks end",
        message: `END${word === null ? "" : ` ${word}`} of ${block?.word ?? "nothing"}`,
      });
    }
  });
  for (const block of open)
    faults.push({ line: block.line, rule: "blocks end", message: `${block.word} without END` });
  return faults;
}

/** Calls of our procedures and functions and of the server's functions: their names and the number of arguments. */
function checkCalls(nodes: readonly Node[], schema: Schema): Fault[] {
  const faults: Fault[] = [];
  const visit = (list: readonly Node[]): void => {
    list.forEach((node, index) => {
      if (isGroup(node)) {
        visit(node.nodes);
        return;
      }
      if (isWord(node, "EXEC")) faults.push(...checkExec(list, index, schema));
      const call = list[index + 1];
      if (node.kind === "word" && isGroup(call) && !isSymbol(list[index - 1], ".")) {
        const range = functions.get(node.text);
        const count = call.nodes.length === 0 ? 0 : splitList(call.nodes).length;
        if (range !== undefined && (count < range[0] || count > range[1])) {
          faults.push({
            line: node.line,
            rule: "functions get their arguments",
            message: `${node.text} gets ${String(count)}`,
          });
        }
      }
      const name = qualifiedAt(list, index);
      const own = schema.functions.get(name ?? "");
      const values = list[index + 3];
      const isMade = isWord(list[index - 1], "FUNCTION");
      if (
        own !== undefined &&
        isGroup(values) &&
        !isMade &&
        splitList(values.nodes).length !== own.parameters.length
      ) {
        faults.push({
          line: node.line,
          rule: "functions get their arguments",
          message: String(name),
        });
      }
    });
  };
  visit(nodes);
  return faults;
}

function checkExec(nodes: readonly Node[], index: number, schema: Schema): Fault[] {
  const start = nodes[index + 1]?.kind === "variable" ? index + 3 : index + 1;
  const name = qualifiedAt(nodes, start);
  const line = nodes[index]?.line ?? 0;
  if (name === null || systemObjects.has(name)) return [];
  const parameters = schema.procedures.get(name);
  if (parameters === undefined) return [{ line, rule: "every procedure exists", message: name }];
  const rest = nodes.slice(start + 3);
  const end = rest.findIndex((node) => isSymbol(node, ";") || isWord(node, "ELSE", "END"));
  const items = splitList(rest.slice(0, end < 0 ? undefined : end)).filter(
    (item) => item.length > 0,
  );
  return checkArguments({ name, line, parameters }, items);
}

function checkArguments(
  call: { name: string; line: number; parameters: readonly Parameter[] },
  items: readonly Node[][],
): Fault[] {
  const { name, line, parameters } = call;
  const faults: Fault[] = [];
  const given = new Set<string>();
  for (const item of items) {
    const [left, sign] = item;
    const isNamed = left?.kind === "variable" && isSymbol(sign, "=");
    const parameter = parameters.find((candidate) => isNamed && candidate.name === left.text);
    if (parameter === undefined) {
      const text = left !== undefined && "text" in left ? left.text : "?";
      faults.push({
        line,
        rule: "arguments are named as the procedure names them",
        message: `${name} ${text}`,
      });
      continue;
    }
    given.add(parameter.name);
    if (item.some((node) => isWord(node, "OUTPUT")) !== parameter.isOutput) {
      faults.push({
        line,
        rule: "OUTPUT stands at both ends",
        message: `${name} ${parameter.name}`,
      });
    }
  }
  for (const parameter of parameters) {
    if (!given.has(parameter.name) && !parameter.hasDefault) {
      faults.push({
        line,
        rule: "every parameter without a default is given",
        message: `${name} ${parameter.name}`,
      });
    }
  }
  return faults;
}
