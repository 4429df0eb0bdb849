import { StoreContractError } from "./errors";

/**
 * The token string: `I:<token id>,S:<0 held, 1 free>,G:<execution id, 0 none>`,
 * repeated. Both databases keep it in the definition's row; this is the same reading and writing in
 * TypeScript.
 */

/** The right to run one task at a time. */
export interface Token {
  /** A UUID in lower case; new when the token is taken from a dead holder. */
  id: string;
  isHeld: boolean;
  /** The execution that holds it or held it last; "0": none ever did. */
  grantee: string;
}

const idPart = /^I:[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$/;
const statusPart = /^S:[01]$/;
const granteePart = /^G:[0-9]{1,18}$/;

/**
 * Reads a token string, in list order. Also reads `|` between the tokens and the three parts in any
 * order. Throws StoreContractError when the text is damaged: nothing is granted from a string that
 * can't be read.
 */
export function parseTokens(text: string): Token[] {
  if (text === "") return [];
  const parts = text.replaceAll("|", ",").split(",");
  const tokens: Token[] = [];
  for (let at = 0; at < parts.length; at += 3) {
    tokens.push(parseToken(parts.slice(at, at + 3), text));
  }
  return tokens;
}

/** Writes tokens as the string that `parseTokens` reads; no tokens: an empty text. */
export function formatTokens(tokens: readonly Token[]): string {
  return tokens
    .map((token) => `I:${token.id},S:${token.isHeld ? "0" : "1"},G:${token.grantee}`)
    .join(",");
}

function parseToken(parts: readonly string[], text: string): Token {
  const id = parts.find((part) => idPart.test(part));
  const status = parts.find((part) => statusPart.test(part));
  const grantee = parts.find((part) => granteePart.test(part));
  if (id === undefined || status === undefined || grantee === undefined) {
    throw new StoreContractError(
      `execution_tokens: not a list of I:,S:,G: triples (${Array.from(text).slice(0, 200).join("")})`,
    );
  }
  return {
    id: id.slice(2).toLowerCase(),
    isHeld: status === "S:0",
    // The databases read a number here: leading zeros go.
    grantee: String(BigInt(grantee.slice(2))),
  };
}
