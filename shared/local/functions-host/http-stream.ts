/**
 * HTTP with an app that takes requests and gives responses as streams (`app.setup({ enableHttpStream: true })`). As on Azure
 * the library then has a server of its own: the host sends each request there, marked with the id of its invocation.
 */
import { request as httpRequest } from "node:http";
import type {
  ClientRequest,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import { Server } from "node:net";
import type { ListenOptions } from "node:net";
import { LOCAL_HOST } from "../free-port";
import type { ProgrammingModel, RpcTypedData } from "./core-api";
import type { InvocationResult } from "./invoke";

/** The capability by which the library tells where its server listens. */
const addressCapability = "HttpUri";
const invocationHeader = "x-ms-invocation-id";
/** A matter of one connection, and what only the host and the library tell each other. */
const ownHeaders = /^(?:connection|keep-alive|transfer-encoding|expect|x-ms-invocation-id)$/i;

/**
 * Ends the time in which the app may call `app.setup()`. Answers the port of the library's server, which is kept on this machine's
 * own address; null: the app takes requests whole.
 */
export async function openStreams(model: ProgrammingModel): Promise<number | null> {
  const capabilities = await onOwnAddress(async () => await model.getCapabilities?.({}));
  const address = capabilities?.[addressCapability];
  return address === undefined ? null : Number(new URL(address).port);
}

interface Listening {
  listen: (this: unknown, ...values: unknown[]) => unknown;
}

/** The library's server would listen on every address of the machine. */
async function onOwnAddress<Result>(work: () => Promise<Result>): Promise<Result> {
  const prototype = Server.prototype as unknown as Listening;
  const original = prototype.listen;
  prototype.listen = function listen(...values) {
    const [first] = values;
    if (typeof first !== "function") return original.apply(this, values);
    const where: ListenOptions = { host: LOCAL_HOST, port: 0 };
    return original.apply(this, [where, first]);
  };
  try {
    return await work();
  } finally {
    prototype.listen = original;
  }
}

/** What the library takes of a streamed request from the host's call; the rest comes with the request. */
export function streamMetadata(
  headers: Readonly<Record<string, string>>,
  parameters: Readonly<Record<string, string>>,
): Record<string, RpcTypedData> {
  const entries = Object.entries(parameters).map(([name, value]): [string, RpcTypedData] => [
    name,
    { string: value },
  ]);
  return { ...Object.fromEntries(entries), Headers: { json: JSON.stringify(headers) } };
}

/** A request that is passed on while its invocation runs. */
export interface StreamedExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Of the library's server. */
  readonly port: number;
  readonly invocationId: string;
}

/** Passes the request on and answers by what the function gives: its response, 204 for none, 500 where it failed. */
export async function passStreams(
  exchange: StreamedExchange,
  invoke: () => Promise<InvocationResult>,
): Promise<void> {
  const { request, response } = exchange;
  const upstream = sendOn(exchange);
  const answered = answerBy(upstream, response);
  // The end of the invocation decides first.
  answered.catch(() => undefined);
  try {
    const { hasReturned } = await invoke();
    if (hasReturned) await answered;
    else response.writeHead(204).end();
  } catch {
    // A failed function is logged by the invoker. An answer that has begun is cut off: its reader must not take it for whole.
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end();
  } finally {
    upstream.destroy();
    // What the function left unread would hold the connection.
    request.unpipe(upstream);
    request.resume();
  }
}

function sendOn({ request, url, port, invocationId }: StreamedExchange): ClientRequest {
  const upstream = httpRequest({
    host: LOCAL_HOST,
    port,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: {
      ...withoutOwn(request.headers),
      [invocationHeader]: invocationId,
      "x-forwarded-host": url.host,
      "x-forwarded-proto": "http",
      // A server that closes on a body it left unread would tear its response, too.
      connection: "keep-alive",
    },
    agent: false,
  });
  upstream.flushHeaders();
  request.pipe(upstream);
  return upstream;
}

/** Resolves when the whole response is with the caller, or its connection is closed. Rejects when it was cut off. */
function answerBy(upstream: ClientRequest, response: ServerResponse): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    upstream.on("error", reject);
    upstream.once("response", (given) => {
      response.writeHead(given.statusCode ?? 200, withoutOwn(given.headers));
      given.on("error", reject);
      given.pipe(response);
    });
    response.once("close", () => {
      cutOff(upstream);
      resolve();
    });
  });
}

/** Ends it once the library has heard of the request: the invocation waits for that. */
function cutOff(upstream: ClientRequest): void {
  const { socket } = upstream;
  if (socket === null) upstream.once("socket", cutOff.bind(null, upstream));
  else if (socket.connecting) socket.once("connect", () => upstream.destroy());
  else upstream.destroy();
}

function withoutOwn(headers: IncomingMessage["headers"]): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.test(name)));
}
