import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpRequest, InvocationContext } from "@azure/functions";
import type { Admin } from "../../shared/admin/create-admin";
import { createHandler } from "../../shared/functions/api/respond";

/** A server that answers as a test says, in the place of an app. */
export interface ScriptedApp {
  /** As `--url` takes it. */
  readonly url: string;
  /** What came, in order. */
  readonly seen: { method: string; path: string; headers: IncomingMessage["headers"] }[];
  close(): Promise<void>;
}

/** Answers a request; may leave it without an answer. */
export type Script = (request: IncomingMessage, response: ServerResponse) => void;

/** Listens on a free port of this machine. */
export async function startScriptedApp(script: Script): Promise<ScriptedApp> {
  const seen: ScriptedApp["seen"] = [];
  const server = createServer((request, response) => {
    const { method = "", url: path = "", headers } = request;
    seen.push({ method, path, headers });
    script(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** Answers with this status, type and text. */
export function answering(
  status: number,
  text = "",
  headers: Readonly<Record<string, string>> = { "content-type": "text/html" },
): Script {
  return (_, response) => {
    response.writeHead(status, { ...headers }).end(text);
  };
}

/** Answers what a route of the product answers whose call throws this. */
export function failing(error: Error): Script {
  const handler = createHandler({ admin: () => Promise.resolve({} as Admin) }, () =>
    Promise.reject(error),
  );
  return (request, response) => {
    const context = new InvocationContext({
      invocationId: "6f7c",
      functionName: "api",
      logHandler: () => undefined,
    });
    const asked = new HttpRequest({ method: request.method ?? "GET", url: "http://localhost/" });
    void handler(asked, context).then(({ status = 200, headers, body }) => {
      response.writeHead(status, headers as Record<string, string>).end(body);
    });
  };
}
