/** HTTP routes as Azure Functions knows them: `items/{id:int}/{part?}`, `files/{*path}`. */

/** A route, ready to be compared with paths. */
export interface RouteTemplate {
  readonly template: string;
  /**
   * The parameters if the path (without leading slash, still percent-encoded) matches, else null.
   * Literal parts ignore case; an absent optional parameter is missing in the answer.
   */
  match(path: string): Record<string, string> | null;
  /** Sorts templates: the more exact comes first. */
  readonly rank: string;
}

type Check = (value: string) => boolean;

const INTEGER = /^[+-]?\d+$/;
const CONSTRAINTS: Readonly<Record<string, (argument: string) => Check>> = {
  int: () => (value) => INTEGER.test(value) && Math.abs(Number(value)) < 2 ** 31,
  long: () => (value) => INTEGER.test(value) && value.replace(/^[+-]/, "").length <= 19,
  bool: () => (value) => /^(?:true|false)$/i.test(value),
  guid: () => (value) => /^\{?[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\}?$/i.test(value),
  alpha: () => (value) => /^[a-z]*$/i.test(value),
  float: () => isNumber,
  double: () => isNumber,
  decimal: () => isNumber,
  datetime: () => (value) => !Number.isNaN(Date.parse(value)),
  min: (argument) => (value) => INTEGER.test(value) && Number(value) >= Number(argument),
  max: (argument) => (value) => INTEGER.test(value) && Number(value) <= Number(argument),
  range: (argument) => (value) => INTEGER.test(value) && isWithin(Number(value), argument),
  minlength: (argument) => (value) => value.length >= Number(argument),
  maxlength: (argument) => (value) => value.length <= Number(argument),
  length: (argument) => (value) =>
    argument.includes(",") ? isWithin(value.length, argument) : value.length === Number(argument),
};

function isNumber(value: string): boolean {
  return value.trim() !== "" && Number.isFinite(Number(value));
}

function isWithin(value: number, limits: string): boolean {
  const [low, high] = limits.split(",").map(Number);
  return low !== undefined && high !== undefined && value >= low && value <= high;
}

interface Parameter {
  readonly name: string;
  readonly checks: readonly Check[];
  readonly isOptional: boolean;
  readonly isCatchAll: boolean;
}

/** Parses a template. Throws an Error that names the part which this host does not know. */
export function parseRoute(template: string): RouteTemplate {
  const segments = template.split("/").filter((segment) => segment !== "");
  const parameters: Parameter[] = [];
  let pattern = "";
  let rank = "";
  segments.forEach((segment, index) => {
    const parts = [...segment.matchAll(/\{([^{}]+)\}|([^{}]+)|[{}]/g)];
    const found: Parameter[] = [];
    let body = "";
    for (const part of parts) {
      const [whole, inside, literal] = part;
      if (inside !== undefined) {
        const parameter = parseParameter(inside, template);
        found.push(parameter);
        body += parameter.isCatchAll ? "(.*)" : "([^/]+?)";
      } else if (literal !== undefined) {
        body += literal.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&");
      } else {
        throw new Error(`The route "${template}" has a stray "${whole}".`);
      }
    }
    const [only] = found;
    const canBeAbsent = only !== undefined && (only.isOptional || only.isCatchAll);
    if (canBeAbsent && (found.length > 1 || parts.length > 1 || index !== segments.length - 1)) {
      throw new Error(
        `The route "${template}" has {${only.name}} elsewhere than alone at its end.`,
      );
    }
    const slash = index === 0 ? "" : "/";
    pattern += canBeAbsent ? `(?:${slash}${body})?` : `${slash}${body}`;
    rank += rankOf(parts.length, found);
    parameters.push(...found);
  });
  const expression = new RegExp(`^${pattern}/?$`, "i");
  return { template, rank, match: (path) => matchPath(expression, parameters, path) };
}

/** One character per segment, smaller is more exact: text, mixed, checked, any, catch-all. */
function rankOf(partCount: number, found: readonly Parameter[]): string {
  const [only] = found;
  if (only === undefined) return "1";
  if (only.isCatchAll) return only.checks.length > 0 ? "5" : "6";
  if (partCount > 1) return "2";
  return only.checks.length > 0 ? "3" : "4";
}

function parseParameter(text: string, template: string): Parameter {
  const parts = /^(\*{0,2})([A-Za-z_]\w*)((?::[^:?]+)*)(\??)$/.exec(text);
  if (parts === null)
    throw new Error(`The route "${template}" has {${text}}, not understood here.`);
  const [, stars = "", name = "", constraints = "", optional = ""] = parts;
  const checks = constraints
    .split(":")
    .slice(1)
    .map((constraint) => {
      const [, kind = "", argument = ""] = /^(\w+)(?:\((.*)\))?$/.exec(constraint) ?? [];
      const create = CONSTRAINTS[kind.toLowerCase()];
      if (create === undefined) {
        throw new Error(
          `The route "${template}" has the constraint "${constraint}", not known here.`,
        );
      }
      return create(argument);
    });
  return { name, checks, isOptional: optional === "?", isCatchAll: stars !== "" };
}

function matchPath(
  expression: RegExp,
  parameters: readonly Parameter[],
  path: string,
): Record<string, string> | null {
  const values = expression.exec(path)?.slice(1);
  if (values === undefined) return null;
  const answer: Record<string, string> = {};
  for (const [index, parameter] of parameters.entries()) {
    const raw = values[index];
    if (raw === undefined || (raw === "" && parameter.isCatchAll)) continue;
    const value = decode(raw);
    if (value === null || !parameter.checks.every((check) => check(value))) return null;
    answer[parameter.name] = value;
  }
  return answer;
}

/** As the host's server does it: an encoded slash stays as it is. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll(/%2f/gi, (slash) => `%25${slash.slice(1)}`));
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
