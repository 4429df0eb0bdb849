import type { Token } from "./lexer";
import type { Piece, PieceKind } from "./pieces";
import { reservedWords } from "./reserved-words";
import { TsqlSyntaxError } from "./syntax-error";

/** Reads the tokens of one batch from left to right. Any other token is an error with its place, never a guess. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  readonly #fileName: string;
  /** Of the parts read so far, inner ones first. */
  readonly pieces: Piece[] = [];
  #at = 0;

  /** The last token must be the end. */
  constructor(tokens: readonly Token[], fileName: string) {
    this.#tokens = tokens;
    this.#fileName = fileName;
  }

  /** The token that comes next; behind the last one always the end. */
  protected get next(): Token {
    return this.peek(0);
  }

  protected get line(): number {
    return this.next.line;
  }

  /** The token read last; the first one, if none was. */
  protected get previous(): Token {
    return this.peek(-1);
  }

  protected peek(distance: number): Token {
    const index = Math.max(0, Math.min(this.#at + distance, this.#tokens.length - 1));
    const token = this.#tokens[index];
    if (token === undefined) throw new Error("A batch has at least the token of its end");
    return token;
  }

  protected advance(): Token {
    const token = this.next;
    this.#at += 1;
    return token;
  }

  /** Do these words and signs come next? */
  protected is(...words: readonly string[]): boolean {
    return words.every((word, distance) => isWord(this.peek(distance), word));
  }

  protected isOneOf(words: ReadonlySet<string>): boolean {
    return this.next.kind === "word" && words.has(this.next.upper);
  }

  /** Reads these words and signs, if they come next, all of them. */
  protected take(...words: readonly string[]): boolean {
    if (!this.is(...words)) return false;
    this.#at += words.length;
    return true;
  }

  protected need(...words: readonly string[]): void {
    for (const word of words) if (!this.take(word)) this.fail(word);
  }

  /** Reads one of a closed set of words and gives it in capitals. */
  protected needOneOf<Word extends string>(words: readonly Word[], what: string): Word {
    const { kind, upper } = this.next;
    const found = kind === "word" ? words.find((word) => word === upper) : undefined;
    if (found === undefined) this.fail(what);
    this.advance();
    return found;
  }

  /** Reads something and notes where it stands. */
  protected marked<Item>(kind: PieceKind, read: () => Item): Item {
    const { start } = this.next;
    const item = read();
    this.mark(kind, start);
    return item;
  }

  /** Notes what began at `start` and has just been read. */
  protected mark(kind: PieceKind, start: number): void {
    this.pieces.push({ kind, start, end: this.previous.end });
  }

  /** One or more, with commas between. */
  protected list<Item>(read: () => Item): Item[] {
    const items = [read()];
    while (this.take(",")) items.push(read());
    return items;
  }

  /** A list in parentheses. */
  protected group<Item>(read: () => Item): Item[] {
    this.need("(");
    const items = this.list(read);
    this.need(")");
    return items;
  }

  /** A bare word that is not reserved, or anything in brackets. */
  protected name(what = "a name"): string {
    if (!this.isName()) this.fail(what);
    return this.advance().text;
  }

  protected isName(distance = 0): boolean {
    const { kind, upper } = this.peek(distance);
    return kind === "quoted" || (kind === "word" && !reservedWords.has(upper));
  }

  protected variable(): string {
    if (this.next.kind !== "variable") this.fail("a variable");
    return this.advance().text;
  }

  /** Names the expected token in place of the next one. */
  protected fail(expected: string): never {
    const found = this.next.kind === "end" ? "the end" : `\`${this.next.text}\``;
    this.reject(this.line, `expected ${expected}, found ${found}`);
  }

  /** Names the error of the text read. */
  protected reject(line: number, message: string): never {
    throw new TsqlSyntaxError({ fileName: this.#fileName, line }, message);
  }
}

function isWord(token: Token, word: string): boolean {
  return (token.kind === "word" || token.kind === "symbol") && token.upper === word;
}
