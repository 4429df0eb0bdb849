import type { Node } from "web-tree-sitter";
import { checkAssignment } from "./assign";
import { checkBounds } from "./bounds";
import { openBeside, openScope, type CheckContext } from "./check-file";
import { readDocument, type BicepDocument } from "./document";
import { startReport, type Fault, type Report } from "./fault";
import { checkSyntax, lineOf, literalText, namedChildren, objectEntries } from "./parser";
import { declaredType } from "./scope";

/** A value of a parameter file; undefined stands for one that is only known at deployment. */
export type ParameterValue =
  | string
  | number
  | boolean
  | undefined
  | readonly ParameterValue[]
  | { readonly [name: string]: ParameterValue };

/** A parameter file together with the template it belongs to. */
export interface ParameterFile {
  readonly template: BicepDocument;
  /** What the file gives, and the template's defaults for the rest. */
  readonly values: ReadonlyMap<string, ParameterValue>;
  /** Names of environment variables that the file reads. */
  readonly environment: readonly string[];
}

/**
 * Reads and checks a parameter file. The grammar does not know this kind of file, but
 * "param name = value" differs from "var name = value" in one word only, so that word is replaced
 * (keeping the lines) and the rest is Bicep.
 */
export function checkParameterFile(
  file: string,
  context: CheckContext,
): { readonly faults: readonly Fault[]; readonly content: ParameterFile | undefined } {
  const { faults, report } = startReport(file);
  const text = context.read(file);
  const using = text === undefined ? undefined : /^using\s+'([^']+)'\s*$/m.exec(text);
  if (text === undefined || using?.[1] === undefined) {
    report("using", 1, "the file or its line \"using '...'\" is missing");
    return { faults, content: undefined };
  }
  const template = openBeside(file, using[1], context);
  if (template === undefined) {
    report("using", 1, `there is no file "${using[1]}"`);
    return { faults, content: undefined };
  }
  const root = context.parse(asBicep(text, using[0]));
  checkSyntax(root, report);
  if (faults.length > 0) {
    return { faults, content: undefined };
  }
  const given = readDocument(file, root);
  checkValues(given, template, { report, context });
  return { faults, content: { template, ...collect(given, template) } };
}

function asBicep(text: string, using: string): string {
  return text.replace(using, `// ${using}`).replace(/^param(?=\s+\w+\s*=)/gm, "var");
}

function checkValues(
  given: BicepDocument,
  template: BicepDocument,
  { report, context }: { readonly report: Report; readonly context: CheckContext },
): void {
  const scope = openScope(given, report, context);
  for (const { name, node, value } of given.variables) {
    const parameter = template.parameters.find((known) => known.name === name);
    if (parameter === undefined) {
      report("module", lineOf(node), `${template.file} has no parameter "${name}"`);
      continue;
    }
    checkAssignment(value, { type: declaredType(parameter) }, scope);
    const problem = checkBounds(evaluate(value), parameter.decorators);
    if (problem !== undefined) {
      report("bounds", lineOf(node), `"${name}": ${problem}`);
    }
  }
  for (const { name, defaultNode } of template.parameters) {
    if (defaultNode === undefined && !given.variables.some((known) => known.name === name)) {
      report("module", 1, `${template.file} requires parameter "${name}"`);
    }
  }
}

function collect(
  given: BicepDocument,
  template: BicepDocument,
): Pick<ParameterFile, "values" | "environment"> {
  const values = new Map<string, ParameterValue>();
  const environment: string[] = [];
  for (const { name, defaultNode } of template.parameters) {
    const value = given.variables.find((known) => known.name === name)?.value ?? defaultNode;
    values.set(name, value === undefined ? undefined : evaluate(value));
    const variable = environmentVariable(value);
    if (variable !== undefined) {
      environment.push(variable);
    }
  }
  return { values, environment };
}

function environmentVariable(node: Node | undefined): string | undefined {
  if (node?.childForFieldName("function")?.text !== "readEnvironmentVariable") {
    return undefined;
  }
  return literalText(node.childForFieldName("arguments")?.namedChildren[0]);
}

/** Value of a literal; undefined for anything that is computed. */
export function evaluate(node: Node): ParameterValue {
  switch (node.type) {
    case "string":
      return literalText(node);
    case "number":
      return Number(node.text);
    case "boolean":
      return node.text === "true";
    case "array":
      return namedChildren(node).map(evaluate);
    case "object":
      return Object.fromEntries(
        objectEntries(node).map(({ name, key, value }) => [name ?? key.text, evaluate(value)]),
      );
    default:
      return undefined;
  }
}
