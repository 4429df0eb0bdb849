import { gzipSync } from "node:zlib";
import { limits } from "../../shared/core/limits";

/** Input by HTTP, and the expected answer. Sent to the app in a real host; `known` is registered. */
export interface HttpCase {
  readonly title: string;
  readonly method: string;
  /** Behind `/api/`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly status: number;
  /** The field of one of its problems; left out: the answer has none. */
  readonly field?: string;
}

const tasks = "definitions/known/tasks";
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const members = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"m${String(index)}":1`).join(",");
const list = (count: number, task: string): string =>
  `{"tasks":[${Array(count).fill(task).join(",")}]}`;

type Row = readonly [title: string, body: string | Uint8Array, status: number, field?: string];

function posts(path: string, rows: readonly Row[], method = "POST"): HttpCase[] {
  return rows.map(([title, body, status, field]) => ({
    title: `${method} ${path}: ${title}`,
    method,
    path,
    body,
    status,
    ...(field === undefined ? {} : { field }),
  }));
}

function gets(
  rows: readonly (readonly [path: string, status: number, field?: string])[],
): HttpCase[] {
  return rows.map(([path, status, field]) => ({
    title: `GET ${path}`.slice(0, 120),
    method: "GET",
    path,
    status,
    ...(field === undefined ? {} : { field }),
  }));
}

const texts = [
  ["bidirectional signs", "\u202Egpj.exe"],
  ["emoji", "👩‍👩‍👧‍👦"],
  ["an element of HTML", "<img src=x onerror=alert(1)>"],
  ["an ANSI escape", "\u001b[2J\u001b[31m"],
  ["SQL", "'; drop table taskgate.task; --"],
  ["brackets of T-SQL", "]]; drop table x --"],
] as const;

const payloads: readonly Row[] = [
  ["100 levels", `{"payload":${nested(100)}}`, 201],
  ["101 levels", `{"payload":${nested(101)}}`, 400, "payload"],
  ["30,000 levels", `{"payload":${nested(30_000)}}`, 400, "payload[0][0][0][0].."],
  [
    "a million opening brackets",
    `{"payload":${"[".repeat(1_000_000)}`,
    400,
    "payload[0][0][0][0]..",
  ],
  ["60,000 levels of objects", '{"a":'.repeat(60_000), 400, "a.a.a.a.a.."],
  ["64 KiB + 1", `{"payload":["${"x".repeat(limits.payloadBytesMax - 3)}"]}`, 400, "payload"],
  ["64 KiB", `{"payload":["${"x".repeat(limits.payloadBytesMax - 4)}"]}`, 201],
  ["U+0000 in a text", `{"payload":["\\u0000"]}`, 400, "payload"],
  ["U+0000 in a name", `{"payload":{"\\u0000":1}}`, 400, "payload"],
  ["a lone surrogate", `{"payload":["\\ud800"]}`, 400, "payload"],
  ["__proto__ as data", `{"payload":{"__proto__":{"polluted":true}}}`, 201],
  ["__proto__ as a member", `{"payload":null,"__proto__":{"polluted":true}}`, 400, "__proto__"],
  ["constructor as a member", `{"payload":null,"constructor":{"prototype":1}}`, 400, "constructor"],
  ["1e309", `{"payload":{"n":1e309}}`, 400, "payload.n"],
  ["-1e309", `{"payload":{"n":-1e309}}`, 400, "payload.n"],
  ["1e-400", `{"payload":{"n":[1e-400]}}`, 400, "payload.n[0]"],
  ["25 digits", `{"payload":{"n":1234567890123456789012345}}`, 400, "payload.n"],
  ["23 digits of a fraction", `{"payload":[0.12345678901234567890123]}`, 400, "payload[0]"],
  ["2^53 + 1", `{"payload":[9007199254740993]}`, 400, "payload[0]"],
  ["2^53", `{"payload":[9007199254740992]}`, 400, "payload"],
  ["2^53 - 1", `{"payload":[9007199254740991]}`, 201],
  ["-0", `{"payload":[-0]}`, 201],
  ["1e24", `{"payload":[1e24]}`, 201],
  ["NaN", `{"payload":[NaN]}`, 400, "body"],
  ["a trailing comma", `{"payload":[1,]}`, 400, "body"],
  ["single quotes", `{'payload':null}`, 400, "body"],
  ["a number alone", "5", 400, "body"],
  ["nothing", "", 400, "body"],
];

const bodies: readonly Row[] = [
  ["invalid UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), 400, "body"],
  ["a byte order mark", `\ufeff{"payload":null}`, 201],
  ["gzip", gzipSync(`{"payload":null}`), 400, "body"],
  ["zeros", new Uint8Array(100), 400, "body"],
  ["16 MiB", new Uint8Array(16 * 1024 * 1024).fill(32), 413, "body"],
  [
    "2 MiB + 1 of unknown members",
    `{"tasks":[],${members(160_000)}${" ".repeat(400_000)}}`,
    413,
    "body",
  ],
  ["100,000 unknown members", `{"tasks":[],${members(100_000)}}`, 400, "m0"],
  ["250,000 values", `{"tasks":[${Array(250_000).fill("1").join(",")}]}`, 400, "body"],
  ["one task of 80 KiB", `{"payload":null,"kind":"${"x".repeat(80_000)}"}`, 413, "body"],
  ["10,001 tasks", list(10_001, `{"payload":null}`), 400, "tasks"],
  ["10,000 tasks with 7 unknown members each", list(10_000, `{${members(7)}}`), 400, "tasks[0].m0"],
  ["10,000 tasks without a payload", list(10_000, "{}"), 400, "tasks[0].payload"],
  ["10,000 tasks", list(10_000, `{"payload":null}`), 201],
  ["an empty list", `{"tasks":[]}`, 400, "tasks"],
  [
    "a number in the middle",
    `{"tasks":[{"payload":null},{"payload":{"n":1e309}}]}`,
    400,
    "tasks[1].payload.n",
  ],
];

const fields: readonly Row[] = [
  ["priority 32768", `{"payload":null,"priority":32768}`, 400, "priority"],
  ["priority as text", `{"payload":null,"priority":"1"}`, 400, "priority"],
  ["priority 1.5", `{"payload":null,"priority":1.5}`, 400, "priority"],
  ["priority 1e400", `{"payload":null,"priority":1e400}`, 400, "priority"],
  ["runInMs 1e18", `{"payload":null,"runInMs":1e18}`, 400, "runInMs"],
  ["runInMs -1", `{"payload":null,"runInMs":-1}`, 400, "runInMs"],
  ["30 February", `{"payload":null,"runAt":"2026-02-30T08:00:00Z"}`, 400, "runAt"],
  ["the year 0", `{"payload":null,"runAt":"0000-00-00T00:00:00Z"}`, 400, "runAt"],
  ["a group with a blank", `{"payload":null,"group":" a"}`, 400, "group"],
  ["a kind of 201 characters", `{"payload":null,"kind":"${"k".repeat(201)}"}`, 400, "kind"],
  ["NUL in a group", `{"payload":null,"group":"a\\u0000"}`, 400, "group"],
  ["a misspelt member", `{"payload":null,"prioritty":1}`, 400, "prioritty"],
  ["an operationId that is none", `{"payload":null,"operationId":"17"}`, 400, "operationId"],
];

const changes: readonly HttpCase[] = [
  ...posts(
    "definitions/known/limit",
    [
      ...["-1", "1001", '"3"', "1.5", "{}", "[]", "true", "1e309", "-0.5"].map((value): Row => [
        value,
        `{"limit":${value}}`,
        400,
        "limit",
      ]),
      ["nothing", "{}", 400, "limit"],
      ["17 KiB", `{"limit":1,"reason":"${"x".repeat(17_000)}"}`, 413, "body"],
      ["a long reason", `{"limit":1,"reason":"${"x".repeat(401)}"}`, 400, "reason"],
      ["good", `{"limit":2}`, 200],
    ],
    "PUT",
  ),
  ...posts(
    "definitions/known/rate",
    [
      ["a count of 1e309", `{"rate":{"count":1e309,"periodMs":1000}}`, 400, "rate.count"],
      ["a count of 0", `{"rate":{"count":0,"periodMs":1000}}`, 400, "count"],
      ["a period of 1 ms", `{"rate":{"count":1,"periodMs":1}}`, 400, "periodMs"],
      ["a text", `{"rate":"fast"}`, 400, "rate"],
    ],
    "PUT",
  ),
  ...posts(
    "definitions/known/watermark",
    [
      ["25 digits", `{"watermark":"w","value":{"n":1234567890123456789012345}}`, 400, "value.n"],
      ["a value of 80 KiB", `{"watermark":"w","value":["${"x".repeat(80_000)}"]}`, 413, "body"],
    ],
    "PUT",
  ),
  ...posts("tasks/cancel", [
    ["an id that is a number beyond 2^53", `{"tasks":[9223372036854775807]}`, 400, "tasks[0]"],
    ["2^63", `{"tasks":["9223372036854775808"]}`, 400, "tasks[0]"],
    ["1,001 ids", `{"tasks":[${Array(1_001).fill('"1"').join(",")}]}`, 400, "tasks"],
    ["50 KiB", `{"tasks":["1"],"reason":"${"x".repeat(50_000)}"}`, 413, "body"],
  ]),
  ...posts("definitions/known/pause", [["a number", "5", 400, "body"]]),
  ...["", "tag", '"open', '"a" "b"', '"a\u00e9 b"', `"${"x".repeat(8_000)}`].map((tag) => ({
    title: `PUT definitions/known/limit: If-Match ${tag}`.slice(0, 120),
    method: "PUT",
    path: "definitions/known/limit",
    headers: { "if-match": tag },
    body: `{"limit":2}`,
    status: 400,
    field: "If-Match",
  })),
];

const queries = gets([
  ...["-1", "0", "1e9", "1001", "abc", "1.5", "%00", "0x10", "%EF%BC%91"].map(
    (max) => [`executions?max=${max}`, 400, "max"] as const,
  ),
  ["executions?max=1&max=2", 400, "max"],
  // The Functions library drops it: it is read from the address.
  ["executions?__proto__=1", 400, "__proto__"],
  ["executions?constructor=1", 400, "constructor"],
  ["executions?opne=true", 400, "opne"],
  ["executions?open=maybe", 400, "open"],
  ...["", "%00", "AAAA", "A".repeat(6_000), "A".repeat(9_000), "../../etc/passwd"].map(
    (cursor) => [`executions?cursor=${cursor}`, 400, "cursor"] as const,
  ),
  ["status?x=1", 400, "x"],
  [`executions?${Array.from({ length: 900 }, (_, i) => `p${String(i)}=1`).join("&")}`, 400, "p0"],
  [`executions?definition=${"x".repeat(201)}`, 400, "definition"],
]);

const addresses = gets([
  ...["9223372036854775808", "-1", "0x10", "1e3", "%EF%BC%91", "1%00", "1.5", "%20"].map(
    (id) => [`tasks/${id}`, 400, "task"] as const,
  ),
  ["tasks/9223372036854775807", 404],
  ["batches/abc", 400, "batch"],
  ["definitions/'%20or%201=1--", 404],
  ["definitions/%5D%5D%3B%20drop%20table%20x%20--", 404],
  ["definitions/knonw", 404],
  [`definitions/${"x".repeat(201)}`, 400, "definition"],
  ["definitions/%00", 400, "definition"],
]);

const assets = gets(
  [
    ...[
      "..%2fhost.json",
      "..%2f..%2fpackage.json",
      "%2e%2e%2fhost.json",
      "%2e%2e",
      "..%5chost.json",
    ],
    ...[
      "....//host.json",
      "app.js%00.html",
      "%252e%252e%252fhost.json",
      "/etc/passwd",
      "app.js/..%2f",
    ],
    ...["..;/host.json", "style.css%20"],
  ].map((file) => [`dashboard/${file}`, 404] as const),
);

const methods: readonly HttpCase[] = [
  ...["DELETE", "PATCH", "HEAD", "TRACE", "PROPFIND", "QUERY", "OPTIONS"].map((method) => ({
    title: `${method} status`,
    method,
    path: "status",
    status: 404,
  })),
  {
    title: "a range of bytes",
    method: "GET",
    path: "status",
    headers: { range: "bytes=0-1" },
    status: 200,
  },
  {
    title: "a page with a body of 1 MiB",
    method: "GET",
    path: "dashboard",
    headers: { "content-length": "1048576" },
    body: "x".repeat(1_048_576),
    status: 200,
  },
  {
    title: "a forged caller",
    method: "GET",
    path: "status",
    headers: { "x-ms-client-principal-name": "a\u00e9" },
    status: 200,
  },
];

/** All, by what they try. */
export const httpCases: readonly HttpCase[] = [
  ...posts(tasks, payloads),
  ...posts(tasks, bodies),
  ...posts(tasks, fields),
  ...posts(
    tasks,
    texts.flatMap(([title, text]): Row[] => [
      [`${title} as a group`, JSON.stringify({ payload: null, group: text }), 201],
      [`${title} as a payload`, JSON.stringify({ payload: [text] }), 201],
    ]),
  ),
  ...changes,
  ...queries,
  ...addresses,
  ...assets,
  ...methods,
];

/** Bytes that are no good request, and the first line of the answer; null: the connection is closed. */
export const wireCases: readonly (readonly [
  title: string,
  bytes: string,
  status: number | null,
])[] = [
  [
    "two lengths",
    "POST /api/status HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    400,
  ],
  [
    "a length and chunks",
    "POST /api/status HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400,
  ],
  ["bare line feeds", "GET /api/status HTTP/1.1\nHost: a\n\n", 400],
  ["no host", "GET /api/status HTTP/1.1\r\n\r\n", 400],
  ["an address of 64 KiB", `GET /api/${"x".repeat(65_536)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  [
    "a header of 64 KiB",
    `GET /api/status HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(65_536)}\r\n\r\n`,
    431,
  ],
  ["no request at all", "\u0016\u0003\u0001\u0002\u0000", 400],
  ["a length of -1", "POST /api/status HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400],
  ["an address that can't be read", "GET http://[ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400],
  [
    "a body that is told as 101 MiB",
    `POST /api/${tasks} HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 105906176\r\n\r\n`,
    413,
  ],
  ["CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: a\r\n\r\n", null],
];
