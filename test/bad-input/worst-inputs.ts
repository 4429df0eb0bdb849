import { HttpRequest, InvocationContext } from "@azure/functions";
import { createApiRoutes } from "../../shared/functions/api/routes";
import type { Admin } from "../../shared/admin/create-admin";
import { readDelivery, writeRefused } from "../../shared/admin/delivery";
import { readEachEvent } from "../../shared/admin/event-requests";
import { readHint } from "../../shared/admin/requests";
import { describeProblems } from "../../shared/admin/problem-list";
import { commands } from "../../shared/cli/commands";
import { runCli } from "../../shared/cli/main";
import { parseCommandLine } from "../../shared/cli/parse-arguments";
import { nearNames } from "../../shared/core/near-name";

/** The most expensive inputs that every public entry point still reads: as long as it takes, and bad in each costly way. */
export interface WorstInput {
  readonly entry: string;
  readonly title: string;
  /** Made when asked for. */
  readonly make: () => string;
  /** Reads it to its end, without a database. */
  readonly read: (text: string) => unknown;
}

/** Answers every call with nothing: the work behind the reading isn't part of this. */
const admin = new Proxy(
  {},
  { get: (_, member) => (member === "then" ? undefined : () => Promise.resolve({ tasks: [] })) },
) as Admin;
const routes = createApiRoutes(() => Promise.resolve(admin));

function callRoute(name: string, given: { body?: string; query?: string; type?: string }): unknown {
  const route = routes.find((candidate) => candidate.name === name);
  if (route === undefined) throw new Error(`There is no route ${name}`);
  const { body, query = "", type = "application/json" } = given;
  return route.handler(
    new HttpRequest({
      method: route.methods[0] ?? "GET",
      url: `http://localhost/api/${route.route}${query}`,
      query: Object.fromEntries(new URLSearchParams(query)),
      params: { name: "known", id: "1" },
      headers: { "content-type": type },
      ...(body === undefined ? {} : { body: { string: body } }),
    }),
    new InvocationContext({ functionName: name, logHandler: () => undefined }),
  );
}

/** A text of at most so many bytes: parts between a beginning and an end. */
function filled(bytes: number, parts: (index: number) => string, ends: [string, string]): string {
  const [begin, end] = ends;
  const pieces: string[] = [];
  let left = bytes - begin.length - end.length;
  for (let index = 0; ; index += 1) {
    const piece = (index === 0 ? "" : ",") + parts(index);
    if (piece.length > left) break;
    left -= piece.length;
    pieces.push(piece);
  }
  return begin + pieces.join("") + end;
}

const pad = (index: number, length: number): string => String(index).padStart(length, "prioriti");

/** Bad bodies of a given length. */
const bodies: Readonly<Record<string, (bytes: number) => string>> = {
  "short unknown members": (bytes) => filled(bytes, (i) => `"${i.toString(36)}":1`, ["{", "}"]),
  "long unknown members": (bytes) => filled(bytes, (i) => `"${pad(i, 198)}":1`, ["{", "}"]),
  "tasks with unknown members": (bytes) =>
    filled(bytes, () => `{"prioritty":1,"knd":1,"grup":1,"payloat":1}`, ['{"tasks":[', "]}"]),
  "tasks that are wrong in each member": (bytes) =>
    filled(
      bytes,
      () => `{"payload":5,"kind":" ","priority":"x","groupScope":"definitoin","runAt":"x"}`,
      ['{"tasks":[', "]}"],
    ),
  "sound tasks": (bytes) => filled(bytes, () => `{"payload":{"a":1}}`, ['{"tasks":[', "]}"]),
  "numbers that are changed": (bytes) => filled(bytes, () => "1e999", ["[", "]"]),
  "long numbers": (bytes) => filled(bytes, () => `0.${"9".repeat(390)}`, ["[", "]"]),
  "numbers of 17 digits": (bytes) => filled(bytes, () => "0.10000000000000001", ["[", "]"]),
  values: (bytes) => filled(bytes, () => "1", ["[", "]"]),
  "opening brackets": (bytes) => "[".repeat(bytes),
  "brackets that close again": (bytes) => filled(bytes, () => "[[[[[[[[]]]]]]]]", ["[", "]"]),
  "one text": (bytes) => `["${"x".repeat(bytes - 4)}"]`,
  "one text of escapes": (bytes) => `["${"\\u0000".repeat(Math.floor((bytes - 4) / 6))}"]`,
  "open quotation marks": (bytes) => '"'.repeat(bytes),
};

/** Bytes that an entry takes. */
const routeBytes: Readonly<Record<string, number>> = {
  "api-enqueue": 2 * 1024 * 1024,
  "api-watermark": 72 * 1024,
  "api-cancel": 40 * 1024,
  "api-redrive": 40 * 1024,
  "api-reschedule": 40 * 1024,
};
const operatorBytes = 16 * 1024;
/** Node takes no longer head of a request. */
const queryBytes = 16 * 1024 - 200;
const messageBytes = 48 * 1024;

function ofRoutes(): WorstInput[] {
  return routes.flatMap(({ name, methods }): WorstInput[] => {
    const query: WorstInput = {
      entry: name,
      title: "a query of unknown parameters",
      make: () => filled(queryBytes, (i) => `${pad(i, 20)}=1`, ["?", ""]).replaceAll(",", "&"),
      read: (text) => callRoute(name, { query: text }),
    };
    if (methods[0] === "GET") return [query];
    const bytes = routeBytes[name] ?? operatorBytes;
    return [
      query,
      ...Object.entries(bodies).map(([title, make]) => ({
        entry: name,
        title,
        make: () => make(bytes),
        read: (text: string) => callRoute(name, { body: text }),
      })),
    ];
  });
}

/** Tasks that come as lines; of these the host takes more, slice by slice. */
function ofStreams(): WorstInput[] {
  const bytes = 2 * 1024 * 1024;
  const lines: Readonly<Record<string, string>> = {
    "a stream of sound tasks": `{"payload":null}`,
    "a stream of blank lines": "  ",
    "a stream of empty lines": "",
    "a stream of numbers": "1",
    "a stream of unknown members": `{"prioritty":1,"knd":1,"grup":1}`,
  };
  return Object.entries(lines).map(([title, line]) => ({
    entry: "api-enqueue, a task per line",
    title,
    make: () => `${line}\n`.repeat(Math.floor(bytes / (line.length + 1))),
    read: (text: string) => callRoute("api-enqueue", { body: text, type: "application/x-ndjson" }),
  }));
}

/** As the queue's functions do: without its envelope, read, and told why not. */
function readMessage(name: "hints" | "ingest", text: string): void {
  let given: unknown = text;
  try {
    given = JSON.parse(text);
  } catch {
    // The Functions library leaves it a text, too.
  }
  const { message } = readDelivery(given);
  const read = name === "hints" ? readHint(message) : readEachEvent(message);
  if (!read.ok) writeRefused(message, describeProblems(read));
  else if (Array.isArray(read.value))
    for (const each of read.value) if (!each.read.ok) describeProblems(each.read);
}

function ofQueues(): WorstInput[] {
  const events = {
    "events with unknown members": () =>
      filled(messageBytes, () => `{"evntId":1,"sorce":1,"typ":1}`, ["[", "]"]),
    "an event with unknown members": () =>
      filled(messageBytes, (i) => `"${pad(i, 12)}":1`, ["{", "}"]),
  };
  const all: typeof bodies = { ...bodies, ...events };
  return (["hints", "ingest"] as const).flatMap((name) =>
    Object.entries(all).map(([title, make]) => ({
      entry: `queue ${name}`,
      title,
      make: () => make(messageBytes),
      read: (text: string) => {
        readMessage(name, text);
      },
    })),
  );
}

function ofCommands(): WorstInput[] {
  const output = { line: () => undefined, error: () => undefined, columns: null };
  // Longer arguments an operating system refuses.
  const wordBytes = 128 * 1024 - 1;
  const run = (words: string[]) => runCli({ words, environment: {}, folder: "/nowhere", output });
  const payloads = Object.entries(bodies).map(([title, make]): WorstInput => ({
    entry: "taskgate enqueue",
    title,
    make: () => make(wordBytes),
    read: (text) => run(["enqueue", "known", "--payload", text]),
  }));
  const options = commands.map(({ name }): WorstInput => ({
    entry: `taskgate ${name}`,
    title: "an option of 200 letters",
    make: () => `--${pad(0, 198)}`,
    read: (text) => run([name, text]),
  }));
  return [
    ...payloads,
    ...options,
    {
      entry: "taskgate",
      title: "a command of 128 KiB",
      make: () => "s".repeat(wordBytes),
      read: (text) => {
        try {
          return parseCommandLine([text], commands);
        } catch {
          return undefined;
        }
      },
    },
  ];
}

/** A name that isn't there, beside as many as long. */
const names: WorstInput = {
  entry: "near names",
  title: "200 letters beside 1,000 names of 200",
  make: () => "a".repeat(200),
  read: (text) =>
    nearNames(
      text,
      Array.from({ length: 1_000 }, (_, index) => pad(index, 200)),
      3,
    ),
};

/** All, by entry. */
export const worstInputs: readonly WorstInput[] = [
  ...ofRoutes(),
  ...ofStreams(),
  ...ofQueues(),
  ...ofCommands(),
  names,
];
