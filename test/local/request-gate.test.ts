/** What the local Functions host refuses before any function: over a real connection, with headers as browsers send them. */
import { once } from "node:events";
import { connect } from "node:net";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { passGate } from "../../shared/local/functions-host/request-gate";
import { startHost, useHosts } from "./fixtures/host-setup";

useHosts();

let port = 0;
beforeEach(async () => {
  const host = startHost({ env: { WORK_QUEUE: "work-gate", RESULT_QUEUE: "results-gate" } });
  port = Number(new URL((await host.of("ready")).url).port);
});

/** The answer to what goes over the wire as it stands; `PORT` is the host's. */
async function send(...lines: readonly string[]): Promise<{ status: number; text: string }> {
  const socket = connect(port, "127.0.0.1");
  socket.end(lines.join("\r\n").replaceAll("PORT", String(port)));
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => (text += part));
  await once(socket, "close");
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text };
}

type Case = readonly [title: string, status: number, head: readonly string[], body?: string];
const host = "Host: 127.0.0.1:PORT";
const json = "Content-Type: application/json";
const post = "POST /api/change HTTP/1.1";
const get = "GET /api/secret HTTP/1.1";

const refused: readonly Case[] = [
  ["a name that was rebound to this machine", 421, [get, "Host: evil.example"]],
  ["a rebound name with the own port", 421, [get, "Host: evil.example:PORT"]],
  ["a rebound name, writing", 421, [post, "Host: evil.example:PORT", json], "{}"],
  ["the own name with another port", 421, [get, "Host: 127.0.0.1:1"]],
  ["the own name without a port", 421, [get, "Host: localhost"]],
  ["a name that begins like the own one", 421, [get, "Host: localhost.evil.example:PORT"]],
  ["an address of all networks", 421, [get, "Host: 0.0.0.0:PORT"]],
  ["a Host that is no name", 400, [get, "Host: a b<>"]],
  ["an empty Host", 400, [get, "Host:"]],
  ["two Hosts", 400, [get, host, "Host: evil.example"]],
  ["no Host", 400, ["GET /api/secret HTTP/1.0"]],
  ["a target that can't be read", 400, ["GET http://[ HTTP/1.1", host]],
  ["a target without a path", 400, ["OPTIONS * HTTP/1.1", host]],
  ["a target on another machine", 421, ["GET http://evil.example/api/secret HTTP/1.1", host]],
  [
    "a foreign Host with a good target",
    421,
    ["GET http://127.0.0.1:PORT/api/secret HTTP/1.1", "Host: evil.example"],
  ],
  ["a target with a name and a password", 400, ["GET http://a:b@127.0.0.1:PORT/ HTTP/1.1", host]],
  [
    "another origin, as text",
    403,
    [post, host, "Origin: https://evil.example", "Content-Type: text/plain"],
    "{}",
  ],
  ["another origin, as JSON", 403, [post, host, "Origin: https://evil.example", json], "{}"],
  ["another origin without a body", 403, [post, host, "Origin: https://evil.example"]],
  ["an opaque origin, as of a form in a frame", 403, [post, host, "Origin: null", json], "{}"],
  ["the own name at another port", 403, [post, host, "Origin: http://127.0.0.1:1", json], "{}"],
  ["the own name over TLS", 403, [post, host, "Origin: https://127.0.0.1:PORT", json], "{}"],
  [
    "the other name of this machine",
    403,
    [post, host, "Origin: http://localhost:PORT", json],
    "{}",
  ],
  ["two origins", 403, [post, host, "Origin: http://127.0.0.1:PORT", "Origin: null", json], "{}"],
  [
    "an image of another site",
    403,
    [get, host, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image"],
  ],
  ["a page of the same site", 403, [get, host, "Sec-Fetch-Site: same-site"]],
  [
    "a question before a request",
    403,
    ["OPTIONS /api/change HTTP/1.1", host, "Origin: https://evil.example"],
  ],
  ["a form", 415, [post, host, "Content-Type: application/x-www-form-urlencoded"], "a=1"],
  [
    "a form with files",
    415,
    [post, host, "Content-Type: multipart/form-data; boundary=x"],
    "--x--",
  ],
  ["text", 415, [post, host, "Content-Type: text/plain"], "{}"],
  ["text that begins like JSON", 415, [post, host, "Content-Type: application/jsonp"], "{}"],
  ["a body of no type", 415, [post, host], "{}"],
  [
    "a body in pieces of no type",
    415,
    [post, host, "Transfer-Encoding: chunked"],
    "2\r\n{}\r\n0\r\n\r\n",
  ],
  ["text without a body", 415, [post, host, "Content-Type: text/plain"]],
  [
    "a WebSocket",
    400,
    [
      get,
      host,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ],
  ],
];

const served: readonly Case[] = [
  ["a program that reads", 200, [get, host]],
  ["a program that writes JSON", 200, [post, host, json], "{}"],
  ["JSON with its characters named", 200, [post, host, `${json}; charset=utf-8`], "{}"],
  ["a value per line", 200, [post, host, "Content-Type: application/x-ndjson"], "{}\n"],
  ["a program that writes nothing", 200, [post, host, "Content-Length: 0"]],
  ["the name localhost", 200, [get, "Host: LOCALHOST:PORT"]],
  ["the other address of this machine", 200, [get, "Host: [::1]:PORT"]],
  ["the own page, reading", 200, [get, host, "Sec-Fetch-Site: same-origin"]],
  [
    "the own page, writing",
    200,
    [post, host, "Origin: http://127.0.0.1:PORT", "Sec-Fetch-Site: same-origin", json],
    "{}",
  ],
  ["an address that was typed", 200, [get, host, "Sec-Fetch-Site: none"]],
  ["a target with the own address", 200, ["GET http://127.0.0.1:PORT/api/secret HTTP/1.1", host]],
  [
    "an offer of HTTP/2",
    200,
    [get, host, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMA"],
  ],
];

function wire([, , head, body = ""]: Case): string[] {
  const isFramed = head.some((line) => /^(?:content-length|transfer-encoding)/i.test(line));
  const length = body === "" || isFramed ? [] : [`Content-Length: ${String(body.length)}`];
  return [...head, "Connection: close", ...length, "", body];
}

async function changes(): Promise<string> {
  const { text } = await send(get, host, "Connection: close", "", "");
  return /window\.stolen = (\d+)/.exec(text)?.[1] ?? text;
}

describe("the host's door", () => {
  test("every request of a stranger is refused with a sentence, and no function ran", async () => {
    const before = await changes();
    const answers = await Promise.all(refused.map((entry) => send(...wire(entry))));
    expect(answers.map(({ status }, index) => [refused[index]?.[0], status])).toEqual(
      refused.map(([title, status]) => [title, status]),
    );
    for (const { text } of answers) {
      expect(text).not.toMatch(/the secret|access-control-|\n {4}at /i);
      expect(text).toMatch(
        /nosniff[^]*"detail":"(?:Host|Target|Origin|Sec-Fetch-Site|Content-Type|Upgrade): /,
      );
      expect(text).toMatch(/"instance":"urn:uuid:.*"problems":\[\{"field":"\w/);
    }
    expect(await changes()).toBe(before);
  });

  test("programs of this machine and the own page are served, closed to other pages", async () => {
    for (const entry of served) {
      const { status, text } = await send(...wire(entry));
      expect([entry[0], status]).toEqual([entry[0], 200]);
      expect(text).toMatch(/x-content-type-options: nosniff/i);
      expect(text).toMatch(/cross-origin-resource-policy: same-origin/i);
      expect(text).not.toMatch(/access-control-/i);
    }
  });

  test("an address that begins with two slashes is a path of this host", async () => {
    const { status } = await send("GET //evil.example/api/secret HTTP/1.1", host, "", "");
    expect(status).toBe(404);
  });

  test("port 80 may be left out, and a long foreign value is cut", () => {
    const request = { method: "GET", target: "/", hostCount: 1 };
    expect(passGate({ ...request, headers: { host: "localhost" } }, 80)).toMatchObject({
      isOpen: true,
    });
    const long = passGate({ ...request, headers: { host: `${"a".repeat(500)}.example` } }, 80);
    expect(JSON.stringify(long).length).toBeLessThan(500);
  });
});
