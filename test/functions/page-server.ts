import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpRequest, InvocationContext } from "@azure/functions";
import type { HttpResponseInit } from "@azure/functions";
import { createApiRoutes } from "../../shared/functions/api/routes";
import type { ApiOptions, ApiRoute } from "../../shared/functions/api/routes";
import { serveAsset } from "../../shared/functions/dashboard/assets";
import type { Admin } from "../../shared/admin/create-admin";
import { parseRoute } from "../../shared/local/functions-host/route-template";

/** The dashboard and the API over an admin of a test, as the host serves them. */
export interface PageServer {
  /** Of the page. */
  readonly url: string;
  close(): Promise<void>;
}

/** What a route does. */
export type PageHandler = (
  request: HttpRequest,
  context: InvocationContext,
) => Promise<HttpResponseInit>;

/** A route beside those of the API. */
export interface PageRoute {
  readonly method: "GET" | "POST";
  readonly route: string;
  readonly handler: PageHandler;
}

interface PageOptions extends Partial<ApiOptions> {
  /** What App Service adds to a request's headers before the app hears of it; it lets the request in, or answers 401. */
  readonly platform?: (headers: IncomingMessage["headers"]) => Record<string, string> | 401;
  readonly extra?: readonly PageRoute[];
  readonly without?: readonly string[];
}

/**
 * Listens on a free port of this machine. `extra` routes come before the API's own; those of `without`, an older app hasn't,
 * nor does its description name them.
 */
export async function servePage(
  admin: Admin,
  { extra = [], without = [], platform = () => ({}), ...options }: PageOptions = {},
): Promise<PageServer> {
  const api = createApiRoutes(() => Promise.resolve(admin), {
    operatorApi: true,
    ...options,
  }).filter(({ route }) => !without.includes(route));
  const routes = [
    ...(without.length === 0 ? [] : [describeLess(api, without)]),
    ...extra.map(({ method, route, handler }) => ({
      method,
      template: parseRoute(route),
      handler,
    })),
    ...api.map(({ methods, route, handler }) => ({
      method: methods[0],
      template: parseRoute(route),
      handler,
    })),
    { method: "GET", template: parseRoute("dashboard/{file?}"), handler: serveAsset },
    {
      method: "GET",
      template: parseRoute("results"),
      handler: () => Promise.resolve({ jsonBody: { tables: [] } }),
    },
  ];
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname.replace(/^\/api\//, "");
    const found = routes
      .map((route) => ({ ...route, params: route.template.match(path) }))
      .find(({ method, params }) => method === request.method && params !== null);
    const added = platform(request.headers);
    if (added === 401) response.writeHead(401).end();
    else if (found === undefined) response.writeHead(404).end();
    else void serve(request, response, { ...found, params: found.params ?? {}, added });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/api/dashboard`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** The API's description of itself, as an older app has it. */
function describeLess(api: readonly ApiRoute[], without: readonly string[]) {
  const handler: PageHandler = async (request, context) => {
    const found = api.find(({ name }) => name === "api-openapi");
    const described = await found?.handler(request, context);
    const document = described?.jsonBody as { paths: Record<string, unknown> };
    const paths = Object.entries(document.paths).filter(
      ([path]) => !without.includes(path.slice(1)),
    );
    return { ...described, jsonBody: { ...document, paths: Object.fromEntries(paths) } };
  };
  return { method: "GET", template: parseRoute("openapi.json"), handler };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  given: { handler: PageHandler; params: Record<string, string>; added: Record<string, string> },
): Promise<void> {
  const { handler, params, added } = given;
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8");
  const url = new URL(request.url ?? "/", "http://localhost");
  const answer = await handler(
    new HttpRequest({
      method: request.method ?? "GET",
      url: url.href,
      headers: {
        "content-type": request.headers["content-type"] ?? "application/json",
        ...(request.headers["if-match"] === undefined
          ? {}
          : { "if-match": request.headers["if-match"] }),
        ...added,
      },
      query: Object.fromEntries(url.searchParams),
      params,
      ...(text === "" ? {} : { body: { string: text } }),
    }),
    new InvocationContext({ invocationId: "1", functionName: "page", logHandler: () => undefined }),
  );
  const { body, status = 200 } = answer;
  const json = answer.jsonBody as unknown;
  const type = json === undefined ? {} : { "content-type": "application/json; charset=utf-8" };
  response.writeHead(status, { ...type, ...(answer.headers as Record<string, string>) });
  response.end(json === undefined ? body : JSON.stringify(json));
}
