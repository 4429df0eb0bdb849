import { invalidInput, showValue } from "../admin/read-result";
import type { TextLine } from "../admin/text-lines";

/** Comma-separated values as RFC 4180 has them, record by record. */

/** One value of a record. */
export interface CsvField {
  readonly text: string;
  /** It stood in quotes. */
  readonly isQuoted: boolean;
}

/** One record; a field in quotes may hold line breaks, so it may take several lines. */
export interface CsvRecord {
  /** The line that it begins on, from 1. */
  readonly number: number;
  /** The line that it ends on. */
  readonly last: number;
  readonly bytes: number;
  readonly fields: readonly CsvField[];
}

const quoteRule =
  'a field in quotes that ends with one before a comma or the end of the line; a quote inside is written twice: ""';

/** Reads records from lines. An empty line between records is none. */
export class CsvReader {
  readonly #bytesMax: number;
  #fields: CsvField[] = [];
  #number = 0;
  #bytes = 0;
  /** The part of a field in quotes that has been read; null: none is open. */
  #open: string | null = null;

  /** `bytesMax`: of one record. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The record that ends with this line; null: none does. Throws InvalidArgumentError that names the record's first line. */
  push({ number, text, bytes }: TextLine): CsvRecord | null {
    if (this.#open === null) {
      if (text === "" || text === "\r") return null;
      this.#fields = [];
      this.#number = number;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) this.#refuseOpen();
    if (!this.#read(text)) return null;
    return { number: this.#number, last: number, bytes: this.#bytes, fields: this.#fields };
  }

  /** Behind the last line. Throws InvalidArgumentError where a field in quotes is still open. */
  end(): void {
    if (this.#open !== null) this.#refuseOpen();
  }

  /** Does the record end with this line? */
  #read(text: string): boolean {
    let at = 0;
    for (;;) {
      if (this.#open === null && text[at] === '"') {
        this.#open = "";
        at += 1;
      }
      if (this.#open === null) {
        const comma = text.indexOf(",", at);
        this.#addPlain(text.slice(at, comma === -1 ? undefined : comma), comma === -1);
        if (comma === -1) return true;
        at = comma + 1;
        continue;
      }
      const quote = text.indexOf('"', at);
      if (quote === -1) {
        this.#open += `${text.slice(at)}\n`;
        return false;
      }
      this.#open += text.slice(at, quote);
      at = quote + 1;
      if (text[at] === '"') {
        this.#open += '"';
        at += 1;
        continue;
      }
      this.#fields.push({ text: this.#open, isQuoted: true });
      this.#open = null;
      if (at === text.length || text.slice(at) === "\r") return true;
      if (text[at] !== ",") this.#refuse(text);
      at += 1;
    }
  }

  #addPlain(text: string, isLast: boolean): void {
    const field = isLast && text.endsWith("\r") ? text.slice(0, -1) : text;
    if (field.includes('"')) this.#refuse(text);
    this.#fields.push({ text: field, isQuoted: false });
  }

  #refuse(text: string): never {
    const field = `line ${String(this.#number)}`;
    throw invalidInput([{ field, value: showValue(text), expected: quoteRule }]);
  }

  #refuseOpen(): never {
    const value = "a field in quotes without its end";
    const expected = `a quote at its end, and at most ${String(this.#bytesMax)} bytes in one record`;
    throw invalidInput([{ field: `line ${String(this.#number)}`, value, expected }]);
  }
}
