/** Input by the queues, and the expected answer. Sent to the app in a real host, through a real queue emulator. */
export interface QueueCase {
  readonly title: string;
  readonly queue: "hints" | "ingest";
  /** The bytes of the message, before base64. */
  readonly message: string | Uint8Array;
  /** Put into the queue as it is, without base64. */
  readonly isRaw?: true;
  /**
   * The reason beside it in the poison queue; null: the message went there as it is, because its text or its depth can't be
   * put beside a reason.
   */
  readonly reason: RegExp | null;
}

const event = (rest: object): string =>
  JSON.stringify({ eventId: "bad", source: "landing", type: "file-landed", ...rest });
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const data = { path: "/nowhere" };

type Row = readonly [title: string, message: string | Uint8Array, reason: RegExp | null];

const hints: readonly Row[] = [
  ["null", "null", /^Not a hint: message: got null/],
  ["an array", "[]", /^Not a hint: message: got an array of 0/],
  ["an object without a name", "{}", /^Not a hint: taskDefinition: got nothing/],
  [
    "an unknown member",
    `{"taskDefinition":"a","definition":1}`,
    /definition: got 1, expected one of/,
  ],
  ["true", "true", /^Not a hint: message: got true/],
  ["201 characters", "x".repeat(201), /^Not a hint: message: got "x+"\.\., expected/],
  ["a name with a blank", `{"taskDefinition":" a"}`, /taskDefinition: got " a"/],
  ["NUL in a name", `{"taskDefinition":"a\\u0000"}`, /taskDefinition: got "a\\u0000"/],
  ["1e309 as a name", `{"taskDefinition":1e309}`, /taskDefinition: got Infinity/],
  ["a fraction as a name", `{"taskDefinition":1.5}`, /taskDefinition: got 1.5/],
  ["a number beyond 2^53", "12345678901234567890", /message: got 12345678901234567000/],
  ["an object as a name", `{"taskDefinition":{"a":1}}`, /taskDefinition: got an object/],
  ["__proto__", `{"__proto__":{"taskDefinition":"a"}}`, /__proto__: got an object/],
  ["half of JSON", `{"taskDefinition":"a"`, /^Not a hint: message: got/],
  [
    "a text in a text that is too deep",
    JSON.stringify(nested(200)),
    /message\[0\].*more than 105 levels/,
  ],
];

const ingest: readonly Row[] = [
  ["null", "null", /^Not an event: message: got null/],
  ["an empty list", "[]", /array of 1\.\.1000 events/],
  ["1,001 events", `[${Array(1_001).fill("0").join(",")}]`, /array of 1\.\.1000 events/],
  ["no id", event({ eventId: undefined }), /eventId: got nothing/],
  ["an empty id", event({ eventId: "" }), /eventId: got ""/],
  ["a number as id", event({ eventId: 5 }), /eventId: got 5/],
  ["a source of 2,001 characters", event({ source: "x".repeat(2_001) }), /source: got/],
  ["an unknown member", event({ dta: data }), /dta: got an object.*Did you mean `data`/],
  ["an array as data", event({ data: [] }), /data: got an array of 0/],
  ["a text as data", event({ data: "x" }), /data: got "x"/],
  [
    "1e309 in its data",
    event({ data: { n: 0 } }).replace(":0}", ":1e309}"),
    /whole numbers up to 2\^53.*Infinity/,
  ],
  [
    "25 digits in its data",
    event({ data: { n: 0 } }).replace(":0}", ":1234567890123456789012345}"),
    /whole numbers up to 2\^53/,
  ],
  ["NUL in its data", event({ data: { n: "\u0000" } }), /without U\+0000/],
  [
    "a lone surrogate in its data",
    event({ data: { n: 0 } }).replace(":0}", ':"\\ud800"}'),
    /lone surrogates/,
  ],
  [
    "101 levels of data",
    event({ data: { n: 0 } }).replace(":0}", `:${nested(100)}}`),
    /nested at most 100 levels/,
  ],
  [
    "CloudEvents 2.0",
    JSON.stringify({ specversion: "2.0", id: "1", source: "/a", type: "t" }),
    /specversion: got "2.0"/,
  ],
  ["a type that no route takes", event({ type: "<img src=x>" }), /^No route takes events of type/],
  [
    "a source that no route takes",
    event({ source: "\u001b[31m" }),
    /^No route takes events of type/,
  ],
  [
    "bytes that are no JSON",
    JSON.stringify({ specversion: "1.0", id: "1", source: "/a", type: "t", data_base64: "////" }),
    /data_base64: got/,
  ],
  [
    "1e309 in bytes",
    JSON.stringify({
      specversion: "1.0",
      id: "1",
      source: "/a",
      type: "t",
      data_base64: Buffer.from('{"n":1e309}').toString("base64"),
    }),
    /data_base64\.n: got 1e309/,
  ],
  ["half of JSON", `{"eventId":"1"`, /^Not an event: message: got/],
  ["words", "hello", /^Not an event: message: got "hello"/],
];

const of = (queue: QueueCase["queue"], rows: readonly Row[]): QueueCase[] =>
  rows.map(([title, message, reason]) => ({ title: `${queue}: ${title}`, queue, message, reason }));

/** Each is refused. */
export const queueCases: readonly QueueCase[] = [
  ...of("hints", hints),
  ...of("ingest", ingest),
  {
    title: "hints: not base64",
    queue: "hints",
    message: "{not base64}",
    isRaw: true,
    reason: null,
  },
  { title: "ingest: not base64", queue: "ingest", message: "{}", isRaw: true, reason: null },
  {
    title: "ingest: invalid UTF-8",
    queue: "ingest",
    message: new Uint8Array([0x22, 0xff, 0x22]),
    reason: /Not an event/,
  },
  { title: "hints: 15,000 levels", queue: "hints", message: nested(15_000), reason: null },
  {
    title: "ingest: 8,000 levels of data",
    queue: "ingest",
    message: event({ data: { n: 0 } }).replace(":0}", `:${nested(8_000)}}`),
    reason: null,
  },
];
