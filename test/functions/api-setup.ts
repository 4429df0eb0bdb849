import { HttpRequest, InvocationContext } from "@azure/functions";
import { createApiRoutes } from "../../shared/functions/api/routes";
import { runCli } from "../../shared/cli/main";
import { createAdmin } from "../../shared/admin/create-admin";
import type { Admin } from "../../shared/admin/create-admin";
import { asOperationId } from "../../shared/core/ids";
import { nodeTimers } from "../../shared/platform/node-timers";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { DefinitionSettings, TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { defaultSettings } from "../support/builders";
import { recordCalls } from "../support/call-record";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { servePage } from "./page-server";
import type { PageServer } from "./page-server";

/** One request of a test, without a host: what the host would have read from the network. */
export interface ApiRequest {
  /** Name of the route's function. */
  readonly route: string;
  readonly params?: Record<string, string>;
  readonly query?: Record<string, string>;
  /** The query as it stands in the address, such as `?max=1&max=2`. */
  readonly search?: string;
  readonly headers?: Record<string, string>;
  /** A text goes as it is, bytes too, anything else as JSON. */
  readonly body?: unknown;
}

/** What the host would have sent. */
export interface ApiResponse {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** Handlers over a real store, and what went out beside the answers. */
export interface ApiSetup {
  /** As the owner of the schema, who only looks and plants. */
  readonly ownerUrl: string;
  /** As an operator with a command line. */
  readonly operatorUrl: string;
  readonly store: TaskStore;
  readonly admin: Admin;
  readonly hints: { definition: string; inMs: number }[];
  readonly logged: unknown[][];
  call(request: ApiRequest): Promise<ApiResponse>;
  /** Runs a command line as the operator does; no terminal, no local run. */
  taskgate(...words: readonly string[]): Promise<{ code: number; out: string }>;
  /** The same by the app's address: the command line has no database. */
  byUrl(...words: readonly string[]): Promise<{ code: number; out: string }>;
  /** The address of the app, as `--url` takes it; it listens from the first call on. */
  appUrl(): Promise<string>;
  register(name: string, settings?: Partial<DefinitionSettings>): Promise<void>;
  close(): Promise<void>;
}

/** The page of a trace. */
const traceUrl = "https://traces.example/of/{trace}";

const defaults: DefinitionSettings = {
  ...defaultSettings,
  retainDoneMs: 1_000_000,
  retainDeadMs: 10_000_000,
};

/**
 * A database of its own with the handlers over it. They run as the app's login: with both roles, or with the worker's
 * only. `close` rejects when the owner has called an operation.
 */
export async function setupApi(login: "app" | "worker" = "app"): Promise<ApiSetup> {
  const record = recordCalls();
  const database = await createTestDatabase();
  const url = urlAs(database.url, login);
  const store = openStore({ url, connectionsMax: 3, random: realRandom, sleep });
  const hints: { definition: string; inMs: number }[] = [];
  const logged: unknown[][] = [];
  const wakeUp = {
    hint: (definition: string, options: { inMs?: number } = {}) => {
      hints.push({ definition, inMs: options.inMs ?? 0 });
      return Promise.resolve();
    },
  };
  const admin = createAdmin({
    store,
    wakeUp,
    random: realRandom,
    timers: nodeTimers,
    build: 7,
    traceUrl,
  });
  const register = async (
    name: string,
    settings: Partial<DefinitionSettings> = {},
  ): Promise<void> => {
    const all = { ...defaults, ...settings };
    await store.registerDefinition({
      name,
      build: 7,
      settingsHash: "h",
      registeredBy: "test",
      settings: all,
    });
  };
  let server: Promise<PageServer> | null = null;
  const appUrl = async (): Promise<string> => {
    server ??= servePage(admin);
    return new URL((await server).url).origin;
  };
  const runBy = async (environment: Record<string, string>, words: readonly string[]) => {
    const lines: string[] = [];
    const line = (text: string): void => void lines.push(text);
    const output = { line, error: line, columns: null };
    const code = await runCli({ words, environment, folder: "/nowhere", output });
    return { code, out: lines.join("\n") };
  };
  return {
    ownerUrl: database.url,
    operatorUrl: urlAs(database.url, "operator"),
    store,
    admin,
    hints,
    logged,
    register,
    call: (request) => callRoute(() => Promise.resolve(admin), request, logged),
    taskgate: (...words) =>
      runBy(
        {
          TASKGATE_DATABASE_URL: urlAs(database.url, "operator"),
          TASKGATE_TRACE_URL: traceUrl,
        },
        words,
      ),
    appUrl,
    byUrl: async (...words) => runBy({ TASKGATE_URL: await appUrl() }, words),
    close: async () => {
      await (await server)?.close();
      await store.close();
      await database.drop();
      const owners = record.callsOf(new URL(database.url).username);
      if (owners.length > 0) throw new Error(`The owner has called ${owners.join(", ")}`);
    },
  };
}

/** Calls one route's handler the way the host does. */
export async function callRoute(
  admin: () => Promise<Admin>,
  request: ApiRequest,
  logged: unknown[][] = [],
): Promise<ApiResponse> {
  const route = createApiRoutes(admin).find((candidate) => candidate.name === request.route);
  if (route === undefined) throw new Error(`There is no route ${request.route}`);
  const context = new InvocationContext({
    invocationId: "6f7c",
    functionName: route.name,
    logHandler: (_, ...args) => void logged.push(args),
  });
  const response = await route.handler(
    new HttpRequest({
      method: route.methods[0] ?? "GET",
      url: `http://localhost/api/${route.route}${request.search ?? ""}`,
      headers: request.headers ?? {},
      query: request.query ?? {},
      params: request.params ?? {},
      ...bodyOf(request.body),
    }),
    context,
  );
  const headers = response.headers as Record<string, string>;
  const { jsonBody } = response as { jsonBody?: unknown };
  return {
    status: response.status ?? 200,
    contentType: headers["content-type"] ?? "application/json",
    headers,
    body:
      jsonBody === undefined
        ? JSON.parse(response.body as string)
        : JSON.parse(JSON.stringify(jsonBody)),
  };
}

/** A new operation id. */
export function newOperationId(): ReturnType<typeof asOperationId> {
  return asOperationId(realRandom.uuid());
}

function bodyOf(body: unknown): { body?: { string: string } | { bytes: Uint8Array } } {
  if (body === undefined) return {};
  if (body instanceof Uint8Array) return { body: { bytes: body } };
  return { body: { string: typeof body === "string" ? body : JSON.stringify(body) } };
}
