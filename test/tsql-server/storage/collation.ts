/**
 * Text as SQL Server compares it. Two families are modelled: binary (BIN2: code units) and dictionary, of which only case
 * is: accents, width and the order of punctuation follow the code units. In both, the shorter text is padded with blanks.
 */

/** The default of a database; on Azure SQL, too. */
export const defaultCollation = "SQL_Latin1_General_CP1_CI_AS";

/** Of OPENJSON's keys [doc: OPENJSON, "The default schema"]. */
export const jsonKeyCollation = "Latin1_General_BIN2";

/** Names are checked by shape: a misspelt one is an error, as on the server (448). */
const knownCollation =
  /^(SQL_)?Latin1_General(_CP1|_100)?_(BIN2|C[IS]_A[IS](_K[IS])?(_W[IS])?)(_SC)?(_UTF8)?$/i;

export function isCollation(name: string): boolean {
  return knownCollation.test(name);
}

export function isCaseSensitive(collation: string): boolean {
  return /_BIN2|_CS_/i.test(collation);
}

/** Does varchar hold UTF-8 under this collation? Otherwise it holds code page 1252. */
export function isUtf8(collation: string): boolean {
  return /_UTF8$/i.test(collation);
}

/** A text by which equal texts are the same string. */
export function foldText(text: string, collation: string): string {
  const trimmed = text.endsWith(" ") ? text.replace(/ +$/, "") : text;
  return isCaseSensitive(collation) ? trimmed : trimmed.toLowerCase();
}

const blank = 0x20;

function comparePadded(left: string, right: string): number {
  const length = Math.max(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const leftUnit = at < left.length ? left.charCodeAt(at) : blank;
    const rightUnit = at < right.length ? right.charCodeAt(at) : blank;
    if (leftUnit !== rightUnit) return leftUnit - rightUnit;
  }
  return 0;
}

function compareFolded(left: string, right: string): number {
  return left === right ? 0 : comparePadded(left.toLowerCase(), right.toLowerCase());
}

/** Compares two texts: negative, 0, positive. */
export function textComparer(collation: string): (left: string, right: string) => number {
  return isCaseSensitive(collation) ? comparePadded : compareFolded;
}
