import ts from "typescript";

/** A test's title as the source has it, and where. */
export interface TestTitle {
  readonly line: number;
  /** Each expression of a template is an `X`. */
  readonly title: string;
}

/** Jest's own, and helpers that are named after it (`testWith`, `auditTest`). */
const ownName = /^(?:it|test(?:[A-Z]\w*)?|[a-z]\w*Test)$/;

/** A variable that holds `test` or `test.skip` is one, too. */
const holdsTest = /\btest(?:With|Here)\(|\btest\.skip\b/;

/** Here the titles stand in tables of cases, apart from the call. Those of races are titles of groups. */
const tables = /^test\/(?:source-texts\/scenes|tsql\/litmus\/cases\/(?!races|published))/;

/** The titles of all tests in a file, also of those that a table or a condition makes. */
export function readTestTitles(path: string, text: string): TestTitle[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const titles: TestTitle[] = [];
  const others = new Set<string>();
  const take = (node: ts.Node): void => {
    const title = titleOf(node);
    if (title === undefined) return;
    titles.push({ line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1, title });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && holdsTest.test(node.initializer?.getText(file) ?? ""))
      others.add(node.name.getText(file));
    if (ts.isPropertyAssignment(node) && tables.test(path) && node.name.getText(file) === "title")
      take(node.initializer);
    if (ts.isCallExpression(node) && node.arguments.length > 1) {
      const name = calledName(node.expression);
      const [first] = node.arguments;
      if (first !== undefined && (ownName.test(name) || others.has(name))) take(first);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return titles;
}

/** `test` of `test.each(table)("title", body)`. */
function calledName(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isTaggedTemplateExpression(node)) return calledName(node.tag);
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) {
    return calledName(node.expression);
  }
  return "";
}

function titleOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("X");
}
