import type { HttpRequest } from "@azure/functions";
import { invalidInput, take } from "../../admin/read-result";
import { parseJson } from "../../admin/parse-json";
import { InvalidArgumentError } from "../../core/errors";
import { limits } from "../../core/limits";

/** Reads the body of a request, never more of it than its route takes. */

/** Does the request hold a task per line? */
export function isStream({ headers }: HttpRequest): boolean {
  return /^application\/x-ndjson\s*(;|$)/i.test(headers.get("content-type") ?? "");
}

/**
 * The body as parsed JSON; undefined where there is none. UTF-8, at most `bytesMax` bytes: without another bound the size that an
 * operator's request needs. Throws InvalidArgumentError for a text that isn't JSON, is too deep or too large, and for numbers that
 * would be changed; TASKGATE_ARG_TOO_LARGE for a longer one.
 */
export async function bodyOf(
  request: HttpRequest,
  bytesMax: number = limits.httpOperatorBytesMax,
): Promise<unknown> {
  return parse(await readBytes(request, { bytesMax, fix: "leave out what isn't needed" }));
}

/** The body of an operator's request with ids. */
export async function bodyWithIds(request: HttpRequest): Promise<unknown> {
  const fix = "cut the list into several requests";
  return parse(await readBytes(request, { bytesMax: limits.httpIdsBytesMax, fix }));
}

/** The body of an enqueue: 2 MiB for a list, 72 KiB for one task. */
export async function taskBodyOf(request: HttpRequest): Promise<unknown> {
  const fix = "cut the list into several requests";
  const bytes = await readBytes(request, { bytesMax: limits.httpBulkBytesMax, fix });
  const body = parse(bytes);
  const isMany = typeof body === "object" && body !== null && "tasks" in body;
  if (!isMany && bytes.length > limits.httpTaskBytesMax) {
    refuseLong(`${String(bytes.length)} bytes`, {
      bytesMax: limits.httpTaskBytesMax,
      fix: "keep larger data elsewhere and pass a reference; a payload in UTF-8 needs no escapes",
    });
  }
  return body;
}

/** How long a body may be, and what to do about a longer one. */
interface BodyBound {
  readonly bytesMax: number;
  readonly fix: string;
}

/** A body that tells its length is refused before it is read, another one as soon as it is too long. */
async function readBytes(request: HttpRequest, bound: BodyBound): Promise<Uint8Array> {
  const told = Number(request.headers.get("content-length") ?? "0");
  if (told > bound.bytesMax) refuseLong(`${String(told)} bytes`, bound);
  const pieces: Uint8Array[] = [];
  let byteCount = 0;
  // Leaving the loop cancels the stream.
  for await (const piece of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    byteCount += piece.length;
    if (byteCount > bound.bytesMax) refuseLong(`more than ${String(bound.bytesMax)} bytes`, bound);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function refuseLong(value: string, { bytesMax, fix }: BodyBound): never {
  const expected = `at most ${String(bytesMax)} bytes; ${fix}`;
  throw invalidInput([{ field: "body", value, expected }], "TASKGATE_ARG_TOO_LARGE");
}

function parse(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return take(parseJson(text, { root: "body" }));
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    const reason = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    const value = `${String(bytes.length)} bytes that can't be parsed (${reason.slice(0, 100)})`;
    throw invalidInput([{ field: "body", value, expected: "JSON in UTF-8" }]);
  }
}
