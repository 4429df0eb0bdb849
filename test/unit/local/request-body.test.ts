import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { once } from "node:events";
import { afterEach, expect, test } from "@jest/globals";
import { RequestBodies } from "../../../shared/local/functions-host/request-body";
import type { HeldBody } from "../../../shared/local/functions-host/request-body";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that answers how many bytes it has read, or why not; `held` bodies are given back by the test. */
async function serve(held: HeldBody[] = []): Promise<number> {
  const bodies = new RequestBodies({ oneMax: 1_000, allMax: 1_500 });
  const server = createServer((request, response) => {
    void bodies.read(request).then(async (body) => {
      if ("reason" in body) {
        response.writeHead(body.status, { connection: "close" }).end(body.reason);
        return;
      }
      held.push(body);
      if (request.url === "/held") await once(request.socket, "close");
      else body.release();
      response.end(String(body.bytes.length));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Sends these bytes and answers the response. */
async function send(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  closers.push(() => socket.destroy());
  socket.write(text);
  let answer = "";
  for await (const piece of socket) {
    answer += String(piece);
    if (/\r\n\r\n[^]/.test(answer)) break;
  }
  return answer;
}

const post = (length: number, path = "/"): string =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${String(length)}\r\n\r\n`;

test("a body of the greatest length is read whole", async () => {
  const answer = await send(await serve(), post(1_000) + "x".repeat(1_000));
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(answer).toMatch(/1000$/);
});

test("a body that tells a greater length is refused before it comes", async () => {
  const answer = await send(await serve(), post(1_001));
  expect(answer).toMatch(/^HTTP\/1.1 413 /);
  expect(answer).toContain("larger than 1000 bytes");
});

test("a body in chunks is refused as soon as it is too long", async () => {
  const chunk = `200\r\n${"x".repeat(512)}\r\n`;
  const head = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
  // It never ends: only the bound ends it.
  expect(await send(await serve(), head + chunk + chunk)).toMatch(/^HTTP\/1.1 413 /);
});

test("bodies together are bounded until requests give them back", async () => {
  const held: HeldBody[] = [];
  const port = await serve(held);
  const first = connect(port, "127.0.0.1");
  closers.push(() => first.destroy());
  first.write(post(1_000, "/held") + "x".repeat(1_000));
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(await send(port, post(600))).toMatch(/^HTTP\/1.1 503 /);
  held[0]?.release();
  expect(await send(port, post(600) + "x".repeat(600))).toMatch(/^HTTP\/1.1 200 /);
});

test("a GET reads no body", async () => {
  const get = `GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 104857600\r\n\r\n`;
  const answer = await send(await serve(), get);
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(answer).toMatch(/\r\n0$/);
});
