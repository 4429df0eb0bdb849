import { isCaseSensitive } from "../../storage/collation";

interface LikeOptions {
  escape: string | undefined;
  collation: string;
}

const known = new Map<string, RegExp>();

/** A test for texts like a pattern: %, _, [set], [^set]. Trailing blanks of the text count, of nvarchar's pattern, too. */
export function matcherOf(pattern: string, options: LikeOptions): (text: string) => boolean {
  const isSensitive = isCaseSensitive(options.collation);
  const name = `${isSensitive ? "s" : "i"}${options.escape ?? ""}\u0000${pattern}`;
  let expression = known.get(name);
  if (expression === undefined) {
    expression = new RegExp(`^${translate(pattern, options.escape)}$`, isSensitive ? "su" : "isu");
    known.set(name, expression);
  }
  const compiled = expression;
  return (text) => compiled.test(text);
}

function translate(pattern: string, escape: string | undefined): string {
  let result = "";
  for (let at = 0; at < pattern.length; at += 1) {
    const sign = pattern.charAt(at);
    if (escape !== undefined && sign === escape) {
      at += 1;
      result += quote(pattern.charAt(at));
    } else if (sign === "%") {
      result += ".*";
    } else if (sign === "_") {
      result += ".";
    } else if (sign === "[" && pattern.includes("]", at + 2)) {
      const end = pattern.indexOf("]", at + 2);
      result += translateSet(pattern.slice(at + 1, end));
      at = end;
    } else {
      result += quote(sign);
    }
  }
  return result;
}

function translateSet(set: string): string {
  const isNegated = set.startsWith("^");
  const signs = (isNegated ? set.slice(1) : set).replace(/[\\\]^[]/g, "\\$&");
  return `[${isNegated ? "^" : ""}${signs}]`;
}

function quote(sign: string): string {
  return sign.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
