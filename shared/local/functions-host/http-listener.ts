/** Serves HTTP-triggered functions on 127.0.0.1. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { LOCAL_HOST, portOf } from "../free-port";
import type { CoreRegistry, RegisteredFunction, RpcHttpData, RpcNullable } from "./core-api";
import { writeResponse } from "./http-response";
import { passStreams, streamMetadata } from "./http-stream";
import { RETURN_BINDING, triggerOf, type InvocationInput, type Invoker } from "./invoke";
import type { Listener } from "./listener";
import { RequestBodies } from "./request-body";
import { passGate } from "./request-gate";
import { parseRoute, type RouteTemplate } from "./route-template";

/** What the server needs. */
export interface HttpListenerOptions {
  readonly targets: readonly RegisteredFunction[];
  /** 0: a free one. */
  readonly port: number;
  readonly routePrefix: string;
  /** If set, functions that are not anonymous want this as `x-functions-key` or `?code=`. */
  readonly functionKey: string | undefined;
  readonly invoker: Invoker;
  readonly registry: CoreRegistry;
}

interface Route {
  readonly target: RegisteredFunction;
  readonly route: RouteTemplate;
  readonly methods: ReadonlySet<string>;
  readonly isAnonymous: boolean;
}

/** A function that takes the request. */
interface Found {
  readonly entry: Route;
  readonly parameters: Record<string, string>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
}

/** The host refuses an app's route that begins so. The route prefix plays no part. */
const reserved = /^\/*(?:admin|runtime)/i;

/** With every answer: other pages can't show it, take it for a script, or guess its type. A function may say otherwise. */
const closedToOthers = [
  ["x-content-type-options", "nosniff"],
  ["cross-origin-resource-policy", "same-origin"],
] as const;

/** The server; it takes connections as soon as `listen()` has ended. */
export class HttpListener implements Listener {
  readonly #options: HttpListenerOptions;
  readonly #routes: readonly Route[];
  readonly #server: Server;
  readonly #working = new Set<Promise<void>>();
  readonly #bodies = new RequestBodies();
  /** Requests are answered 503 until the whole host has started, and when it stops. */
  #isStarted = false;
  #isStopped = false;
  /** Where the server listens. */
  #port = 0;

  /** Throws for a route that this host does not know. */
  constructor(options: HttpListenerOptions) {
    this.#options = options;
    this.#routes = options.targets
      .map((target) => describeRoute(target, options.routePrefix))
      .sort((a, b) => (a.route.rank < b.route.rank ? -1 : 1));
    this.#server = createServer((request, response) => {
      const work = this.#serve(request, response).finally(() => this.#working.delete(work));
      this.#working.add(work);
    });
  }

  /** Answers `http://127.0.0.1:<port>`. Throws a clear Error if the port is in use. */
  async listen(): Promise<string> {
    const { port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error: NodeJS.ErrnoException) => {
        const inUse = `Port ${String(port)} on ${LOCAL_HOST} is in use by another program. Choose another.`;
        reject(error.code === "EADDRINUSE" ? new Error(inUse, { cause: error }) : error);
      });
      this.#server.listen(port, LOCAL_HOST, resolve);
    });
    this.#port = portOf(this.#server);
    return `http://${LOCAL_HOST}:${String(this.#port)}`;
  }

  start(): void {
    this.#isStarted = true;
  }

  stop(): void {
    this.#isStopped = true;
    this.#server.close();
    this.#server.closeIdleConnections();
  }

  async idle(): Promise<void> {
    await Promise.all(this.#working);
  }

  /** Ends open connections, by force. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      for (const [name, value] of closedToOthers) response.setHeader(name, value);
      const url = this.#admit(request, response);
      if (url === null) return;
      if (this.#isStopped || !this.#isStarted) {
        response.writeHead(503, { connection: "close" }).end();
        return;
      }
      await this.#answer({ request, response, url });
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      const message = `${request.method ?? ""} ${request.url ?? ""}: ${text}`;
      this.#options.registry.write({ level: "error", category: "system", message });
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
  }

  /** The request's address; null: it was refused and answered. */
  #admit(request: IncomingMessage, response: ServerResponse): URL | null {
    const { method = "GET", url: target = "/", headers, headersDistinct } = request;
    const hostCount = headersDistinct["host"]?.length ?? 0;
    const answer = passGate({ method, target, headers, hostCount }, this.#port);
    if (answer.isOpen) return answer.url;
    const { status, title, detail, problem } = answer;
    // An unread body would hold the connection.
    response.writeHead(status, {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      connection: "close",
    });
    const instance = `urn:uuid:${randomUUID()}`;
    const problems = [problem];
    response.end(
      JSON.stringify({ type: "about:blank", title, status, detail, instance, problems }),
    );
    return null;
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, response, url } = exchange;
    const found = this.#find(request.method ?? "GET", url.pathname.replace(/^\/+/, ""));
    if (found === null) {
      response.writeHead(404).end();
      return;
    }
    if (!found.entry.isAnonymous && !this.#hasKey(request, url)) {
      response.writeHead(401).end();
      return;
    }
    if (this.#options.registry.streamPort === null) await this.#answerWhole(exchange, found);
    else await this.#answerInStreams(exchange, found, this.#options.registry.streamPort);
  }

  async #answerWhole({ request, response, url }: Exchange, found: Found): Promise<void> {
    const body = await this.#bodies.read(request);
    if ("reason" in body) {
      const headers = { connection: "close", "content-type": "text/plain; charset=utf-8" };
      response.writeHead(body.status, headers).end(body.reason);
      return;
    }
    const call = this.#options.invoker.invoke(found.entry.target, {
      data: {
        http: describeRequest(request, url, { body: body.bytes, parameters: found.parameters }),
      },
      ...traceOf(request),
    });
    const result = await call.catch(() => null);
    body.release();
    // A failed function is logged by the invoker; the caller learns nothing, as on Azure.
    if (result === null) response.writeHead(500).end();
    else writeResponse(response, result.returnValue?.http ?? undefined);
  }

  async #answerInStreams(exchange: Exchange, found: Found, port: number): Promise<void> {
    const { request } = exchange;
    const invocationId = randomUUID();
    await passStreams({ ...exchange, port, invocationId }, () =>
      this.#options.invoker.invoke(found.entry.target, {
        data: {},
        triggerMetadata: streamMetadata(headersOf(request), found.parameters),
        invocationId,
        ...traceOf(request),
      }),
    );
  }

  #find(method: string, path: string): Found | null {
    for (const entry of this.#routes) {
      if (!entry.methods.has(method)) continue;
      const parameters = entry.route.match(path);
      if (parameters !== null) return { entry, parameters };
    }
    return null;
  }

  #hasKey(request: IncomingMessage, url: URL): boolean {
    const { functionKey } = this.#options;
    if (functionKey === undefined) return true;
    const given = request.headers["x-functions-key"] ?? url.searchParams.get("code");
    return given === functionKey;
  }
}

function describeRoute(target: RegisteredFunction, routePrefix: string): Route {
  const { binding } = triggerOf(target);
  const own = typeof binding["route"] === "string" ? binding["route"] : target.metadata.name;
  const methods = Array.isArray(binding["methods"]) ? binding["methods"] : ["GET", "POST"];
  const hasResponse = target.metadata.bindings[RETURN_BINDING]?.type.toLowerCase() === "http";
  if (!hasResponse) throw new Error("An HTTP function answers by its return value here.");
  if (reserved.test(own))
    throw new Error(
      `The route "${own}" begins with "admin" or "runtime", which Azure's host keeps for itself.`,
    );
  return {
    target,
    route: parseRoute(routePrefix === "" ? own : `${routePrefix}/${own}`),
    methods: new Set(methods.map((method) => String(method).toUpperCase())),
    isAnonymous: binding["authLevel"] === "anonymous" || binding["authLevel"] === undefined,
  };
}

function describeRequest(
  request: IncomingMessage,
  url: URL,
  rest: { readonly body: Buffer; readonly parameters: Record<string, string> },
): RpcHttpData {
  const query = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    const before = query.get(name);
    query.set(name, before === undefined ? value : `${before},${value}`);
  }
  return {
    method: request.method ?? "GET",
    url: url.href,
    nullableHeaders: nullable(headersOf(request)),
    nullableQuery: nullable(Object.fromEntries(query)),
    nullableParams: nullable(rest.parameters),
    body: rest.body.length === 0 ? null : { bytes: rest.body },
  };
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

function traceOf(request: IncomingMessage): Pick<InvocationInput, "traceParent" | "traceState"> {
  const { traceparent, tracestate } = request.headers;
  return {
    traceParent: typeof traceparent === "string" ? traceparent : undefined,
    traceState: typeof tracestate === "string" ? tracestate : undefined,
  };
}

function nullable(values: Record<string, string>): Record<string, RpcNullable<string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}
