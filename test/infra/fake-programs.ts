import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";

/** What azd's hooks meet beside them: programs on the PATH, and Azure Resource Manager. */

const tls = join(__dirname, "../fixtures/tls");
/** A child trusts the test's certificate by this. */
export const certificate = join(tls, "certificate.pem");

/** One request that the fake service got. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly key: string;
  readonly principal: string;
  readonly body: string;
}

/** What the fake service answers; without a type it is JSON. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly type?: string;
}

/** An HTTPS service on this machine that answers by `answer` and keeps what it was asked. */
export async function serveHttps(
  answer: (asked: Asked) => Answer,
): Promise<{ url: string; asked: Asked[]; close: () => Promise<void> }> {
  const asked: Asked[] = [];
  const options = { cert: readFileSync(certificate), key: readFileSync(join(tls, "key.pem")) };
  const server = createServer(options, (request, response) => {
    void readBody(request).then((body) => {
      const header = (name: string): string => String(request.headers[name] ?? "");
      const one: Asked = {
        method: request.method ?? "",
        path: request.url ?? "",
        authorization: header("authorization"),
        key: header("x-functions-key"),
        principal: header("x-ms-client-principal"),
        body,
      };
      asked.push(one);
      const { status, body: content, type = "application/json" } = answer(one);
      response.writeHead(status, { "content-type": type, connection: "close" });
      response.end(content === undefined ? "" : JSON.stringify(content));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://localhost:${String((server.address() as AddressInfo).port)}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

/** Puts a program of the name into `folder`/bin: the text of a Node program. Answers the PATH that finds it first. */
export function makeProgram(folder: string, name: string, text: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  const path = join(bin, name);
  writeFileSync(path, `#!${process.execPath}\n${text}\n`);
  chmodSync(path, 0o755);
  return [bin, process.env["PATH"] ?? ""].join(delimiter);
}

/** An azd that knows one token, and one command. */
export const fakeAzd = `
if (process.argv.slice(2, 4).join(" ") !== "auth token") process.exit(1);
process.stdout.write(JSON.stringify({ token: "token-of-azd", expiresOn: "2126-01-01T00:00:00Z" }));`;

/** Runs a Node program to its end. */
export function runNode(
  words: readonly string[],
  options: { cwd?: string; env: Record<string, string> },
): Promise<{ code: number; out: string; error: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...words],
      { ...options, encoding: "utf8" },
      (_, out, error) => {
        resolve({ code: child.exitCode ?? -1, out, error });
      },
    );
  });
}
