import { StoreContractError } from "../core/errors";
import type { TaskgateError } from "../core/errors";
import { jsonValue } from "../core/json-members";
import { addressOf, isReading } from "./app-request";
import type { AppRequest, Query } from "./app-request";
import {
  isInterrupted,
  isPassing,
  notLetIn,
  notReached,
  redirected,
  routeMissing,
  strange,
} from "./foreign-answer";
import type { AnswerHead, Asked } from "./foreign-answer";
import { errorOfProblem } from "./problem-error";
import type { ProblemAnswer } from "./problem-error";
import { signInHeaders } from "./sign-in";
import type { SignIn } from "./sign-in";

/** What a connection is made with. */
export interface AppOptions {
  /** Where the routes begin, without a slash at the end. */
  readonly base: string;
  readonly signIn: SignIn;
  /** Bounds the time of a request with all its tries; rejects when it is over. */
  readonly bound: <Result>(
    call: () => Promise<Result>,
    kind: { readonly reads: boolean },
  ) => Promise<Result>;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** What one try gave: parsed JSON, or an error that may be over at the next one. */
type Tried = { value: unknown } | { error: TaskgateError; isPassing: boolean };

/** Pauses between the tries of a request that reads; one that changes is sent once. */
const retryPausesMs = [300, 1_000] as const;
/** The longest answer: a hundred batches of a thousand waves have 15 MiB. */
const answerBytesMax = 64 * 1024 * 1024;

/**
 * Makes requests of an app's HTTP API. An answer is parsed JSON; a problem is thrown as the error that the same call throws beside the
 * database. Redirects aren't followed. Nothing is sent before the first call.
 */
export class AppConnection {
  readonly #options: AppOptions;

  constructor(options: AppOptions) {
    this.#options = options;
  }

  /** What a route shows. */
  get(route: readonly string[], query: Query = {}): Promise<unknown> {
    return this.#call({ method: "GET", route, query });
  }

  /** What a change did. `body`: an object, or a text that is JSON already. */
  change(
    method: "PUT" | "POST",
    route: readonly string[],
    body: object | string,
  ): Promise<unknown> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return this.#call({ method, route, body: text });
  }

  async #call(request: AppRequest): Promise<unknown> {
    const end = new AbortController();
    const address = addressOf(this.#options.base, request);
    try {
      return await this.#options.bound(() => this.#tryEach(request, address, end.signal), {
        reads: isReading(request),
      });
    } finally {
      // A request that was given up holds no connection.
      end.abort();
    }
  }

  async #tryEach(request: AppRequest, address: string, signal: AbortSignal): Promise<unknown> {
    const pauses = isReading(request) ? [...retryPausesMs] : [];
    for (;;) {
      const tried = await this.#tryOnce(request, address, signal);
      if (!("error" in tried)) return tried.value;
      const pauseMs = tried.isPassing && !signal.aborted ? pauses.shift() : undefined;
      if (pauseMs === undefined) throw tried.error;
      await this.#options.sleep(pauseMs, signal);
    }
  }

  async #tryOnce(request: AppRequest, address: string, signal: AbortSignal): Promise<Tried> {
    const { base, signIn } = this.#options;
    const asked: Asked = { base, request, signIn };
    const { method, body } = request;
    const isSent = body !== undefined;
    try {
      const response = await fetch(address, {
        method,
        headers: {
          accept: "application/json, application/problem+json",
          ...(isSent ? { "content-type": "application/json" } : {}),
          ...signInHeaders(signIn),
        },
        ...(isSent ? { body } : {}),
        redirect: "manual",
        signal,
      });
      const head: AnswerHead = {
        status: response.status,
        contentType: (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "",
        location: response.headers.get("location"),
      };
      const text = await readText(response, asked);
      return await this.#read(asked, head, text);
    } catch (error) {
      if (error instanceof StoreContractError) return { error, isPassing: false };
      return { error: notReached(asked, error), isPassing: isInterrupted(error) };
    }
  }

  async #read(asked: Asked, head: AnswerHead, text: string): Promise<Tried> {
    const { status, contentType } = head;
    const lasting = (error: TaskgateError) => ({ error, isPassing: false });
    if (contentType === "application/problem+json") {
      const problem = (jsonValue(text) ?? {}) as ProblemAnswer;
      const known = errorOfProblem(problem);
      if (known !== null) return lasting(known);
      if (status === 401 || status === 403) return lasting(notLetIn(asked, status, problem));
    }
    if (status >= 300 && status < 400) return lasting(redirected(asked, head));
    if (status === 401 || status === 403) return lasting(notLetIn(asked, status, null));
    if (status === 404 || status === 405)
      return lasting(routeMissing(asked, await this.#routes(asked.request)));
    const value = status < 300 && contentType === "application/json" ? jsonValue(text) : undefined;
    if (typeof value === "object" && value !== null) return { value };
    return { error: strange(asked, head), isPassing: isPassing(status) };
  }

  /** The routes that the app says it has; null: nothing there knows `openapi.json`. */
  async #routes({ route }: AppRequest): Promise<readonly string[] | null> {
    if (route[0] === "openapi.json") return null;
    try {
      const { paths } = (await this.get(["openapi.json"])) as { paths?: object };
      return typeof paths === "object" ? Object.keys(paths) : null;
    } catch {
      return null;
    }
  }
}

/** The body in UTF-8; throws StoreContractError for one without end. */
async function readText(response: Response, { base }: Asked): Promise<string> {
  const pieces: Uint8Array[] = [];
  let byteCount = 0;
  // Leaving the loop cancels the stream.
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    byteCount += piece.length;
    if (byteCount > answerBytesMax)
      throw new StoreContractError(
        `${base} gave an answer of more than ${String(answerBytesMax)} bytes: is --url the address of the app's API?`,
      );
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
