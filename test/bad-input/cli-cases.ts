/** The typed words, and the expected answer. `known` is registered in the database that TASKGATE_DATABASE_URL names, and draws from `partner-api`. */
export interface CliCase {
  readonly words: readonly string[];
  readonly code: 0 | 1 | 2 | 3 | 4;
  /** What the person is told, on standard error; on standard output where the code is 0. */
  readonly says: RegExp;
  readonly environment?: Readonly<Record<string, string>>;
  /** Contents of a file that stands as FILE in the words. */
  readonly file?: { readonly name: string; readonly content: string | Uint8Array };
}

const secret = "hunter2-very-secret";
const enqueue = (...words: string[]): string[] => ["enqueue", "known", ...words];
const db = (url: string): string[] => ["status", "--db", url];
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

type Row = readonly [words: readonly string[], code: CliCase["code"], says: RegExp];

const rows: readonly Row[] = [
  // Commands and options.
  [["stauts"], 2, /command: got `stauts`, expected a command. Did you mean `status`\?/],
  [[""], 2, /command: got ``/],
  [["status", "extra"], 2, /argument: got `extra`, expected no argument/],
  [["status", "--verbose"], 2, /option: got `--verbose`/],
  [["status", "-v"], 2, /option: got `-v`/],
  [["status", "--json=yes"], 2, /--json: got `yes`, expected no value/],
  [["status", "--db"], 2, /--db: got nothing, expected a value/],
  [["status", "--db", "--json"], 2, /--db: got nothing/],
  [["--db"], 2, /--db: got nothing|command/],
  [["--json", "status"], 0, /"totals"/],
  [["--json", "limit", "known", "2000"], 2, /"limit"/],
  [["--timeout", "5s", "--json", "status"], 0, /"totals"/],
  [["--max", "5", "tasks", "known"], 2, /option: got `--max`, expected one of --db/],
  [["--json"], 2, /command: got nothing, expected a command/],
  [["tasks", "known", "-n", "0"], 2, /max: got "0"/],
  [["tasks", "known", "-sdead", "-n5"], 0, /No task of known is dead/],
  [["executions", "--name", "known"], 2, /the name as an argument: `taskgate executions \[NAME\]`/],
  [
    ["redrive", "--definition", "known"],
    2,
    /the name as an argument: `taskgate redrive ID\|NAME\.\.`/,
  ],
  [
    ["redrive", "known"],
    2,
    /ID\|NAME\.\.: got `known`, expected ids of tasks, or the name .* --all/,
  ],
  [["retry", "17"], 2, /command: got `retry`.* Did you mean `taskgate redrive`\?/],
  [["ps"], 2, /Did you mean `taskgate executions`\?/],
  [["suspend", "known"], 2, /Did you mean `taskgate pause`\?/],
  [["audit"], 0, /register_definition/],
  [["audit", "--json"], 0, /"entries"/],
  [
    ["audit", "--action", "set_limits"],
    2,
    /action: got `?"?set_limits"?.*Did you mean .?set_limit/,
  ],
  [["audit", "--since", "7days"], 2, /since: got "7days", expected an instant/],
  [["audit", "--before", "2030-02-31T08:30:00Z"], 2, /before: got "2030-02-31T08:30:00Z"/],
  [["audit", "-n", "101"], 2, /max: got "101", expected a whole number in 1\.\.100/],
  [["status", "--follow"], 2, /option: got `--follow`/],
  [["limit", "known", "1", "1"], 2, /argument: got `1`/],
  // Numbers.
  [["limit", "known", "-1"], 2, /limit: got `-1`, expected none \(no limit\)/],
  [["limit", "known", "-1.5"], 2, /limit: got `-1.5`/],
  [["limit", "known", "1e3"], 2, /limit: got `1e3`/],
  [["limit", "known", "1001"], 2, /limit: got `1001`/],
  [["limit", "known", "0x10"], 2, /limit: got `0x10`/],
  [["tasks", "known", "--max", "-1"], 2, /max: got "-1", expected a whole number in 1..1000/],
  [["executions", "--max", "1001"], 2, /max: got "1001"/],
  [enqueue("--priority", "-32769"), 2, /tasks\[0\].priority: got -32769/],
  [enqueue("--priority", "-5"), 0, /was added/],
  [enqueue("--run-in", "-1"), 2, /--run-in: got `-1`, expected a time of 1ms to 36500d/],
  [enqueue("--run-in", "600000"), 2, /--run-in: got `600000`, expected a time/],
  [enqueue("--run-in", "1h30m"), 0, /was added.* due in 1 h (29|30) min/],
  [enqueue("--run-at", "2030-01-31T08:30:00"), 2, /runAt: .*with its zone/],
  [["group", "known", "g", "--slots", "-1"], 2, /slots: got -1,/],
  [["explain", "-1"], 2, /task: got "-1"/],
  [["explain", "9223372036854775808"], 2, /task: got "9223372036854775808"/],
  [["explain", "9223372036854775807"], 3, /task/],
  // Names.
  [["pause", "knonw"], 3, /knonw.*known/],
  [["pause", "'; drop table x --"], 3, /drop table/],
  [
    ["limit", "partner-apo", "--shared"],
    3,
    /^taskgate: limit: got `partner-apo`, expected the name of a shared limit; did you mean `partner-api`\?$/,
  ],
  [
    ["limit", "partner-apo", "1", "--shared"],
    3,
    /^taskgate: name: got "partner-apo", expected the name of a shared limit \(a new one needs `--create`, over HTTP `create: true`\); did you mean `partner-api`\?$/,
  ],
  [
    ["limit", "known", "1", "--create"],
    2,
    /--create: got `true`, expected it only together with --shared/,
  ],
  [["limit", "known", "--shared", "--create"], 2, /--create: .* only together with a VALUE/],
  [["limit", "known", "--shared", "--json"], 3, /^\{"error":.*; there are `partner-api`/],
  [["pause", "x".repeat(201)], 2, /definition: got "x+"\.\./],
  [["pause", " "], 2, /definition: got " "/],
  // JSON.
  // As the shells of Windows hand over text in single quotes.
  [enqueue("--payload", "'{a:1}'"), 2, /expected JSON, .*PowerShell before 7\.3 .*: use --file/],
  [enqueue("--payload", "{'a':1}"), 2, /--payload: got `\{'a':1\}`, expected JSON/],
  [
    enqueue("--payload", '{"a":1e309}'),
    2,
    /--payload.a: got 1e309, expected a number that a double keeps/,
  ],
  [
    enqueue("--payload", "[1234567890123456789012345]"),
    2,
    /--payload\[0\]: got 1234567890123456789012345/,
  ],
  [enqueue("--payload", "[9007199254740993]"), 2, /--payload\[0\]: got 9007199254740993/],
  [enqueue("--payload", nested(200)), 2, /more than 105 levels/],
  [enqueue("--payload", nested(101)), 2, /tasks\[0\].payload: .*at most 100 levels/],
  [enqueue("--payload", "5"), 2, /tasks\[0\].payload: got 5/],
  [enqueue("--payload", `["${"x".repeat(65_536)}"]`), 2, /at most 65536 bytes/],
  [enqueue("--payload", '["\\u0000"]'), 2, /without U\+0000/],
  [["watermark", "known", "w", "--set", '{"n":1e-400}'], 2, /value.n: got 1e-400/],
  [["reschedule", "2026-02-30T08:30:00Z", "1"], 2, /runAt/],
  [["reschedule", "600000", "1"], 2, /WHEN: got `600000`, expected now, a time from now such as/],
  [["rate", "known", "5/week"], 2, /rate/],
  // Addresses: no password is ever shown.
  [db(`nonsense-${secret}`), 2, /--db: got something else, expected postgres/],
  [db(`mysql://u:${secret}@h/d`), 2, /--db: got/],
  [db(`postgres://u:${secret}@127.0.0.1:1/d`), 4, /can't be reached|refused/i],
  [db(`postgres://u:${secret}@h`), 2, /--db: got/],
  [["--db", `postgres://u:${secret}@127.0.0.1:1/d`, "status"], 4, /can't be reached|refused/i],
  [db(`mssql://u:${secret}@127.0.0.1:1/d?encrpt=${secret}`), 2, /encrpt|options/],
  // Apps: no key is ever shown.
  [["status", "--url"], 2, /--url: got nothing, expected a value: --url URL/],
  [["status", "--url", "app.example"], 2, /--url: got another text, expected https:\/\/HOST, or/],
  [
    ["status", "--url", `https://app.example?code=${secret}`],
    2,
    /--url: .*a key belongs into TASKGATE_FUNCTION_KEY/,
  ],
  [["status", "--url", `https://u:${secret}@app.example`], 2, /without a user or password/],
  [["status", "--url", "http://app.example"], 2, /http:\/\/ is for this machine only/],
  [
    ["status", "--url", "https://app.example", "--db", `postgres://u:${secret}@h/d`],
    2,
    /--url: got two addresses, expected either --url or --db, not both/,
  ],
  [
    ["--url", "http://127.0.0.1:2", "status"],
    4,
    /can't be reached \(ECONNREFUSED\); nothing happened/,
  ],
  [
    ["migrate", "--url", "http://127.0.0.1:2"],
    2,
    /`taskgate migrate` works on the database itself/,
  ],
  [["replay", "hints", "--url", "http://127.0.0.1:2"], 2, /works on the storage account itself/],
  [["stamp", "--url", "http://127.0.0.1:2"], 2, /works on this computer; leave it out/],
  [
    ["doctor", "--deep", "--url", "http://127.0.0.1:2"],
    2,
    /--deep: got set, expected it with --db/,
  ],
  [
    enqueue("--allow-unknown-kind", "--url", "http://127.0.0.1:2"),
    2,
    /--allow-unknown-kind: got set, expected it with --db only/,
  ],
  [
    ["pause", "..", "--url", "http://127.0.0.1:2"],
    2,
    /got "\.\.", expected a name that an address can/,
  ],
];

const withFile = (
  name: string,
  content: string | Uint8Array,
  rest: Pick<CliCase, "code" | "says">,
): CliCase => ({ words: enqueue("--file", "FILE"), file: { name, content }, ...rest });

/** All. */
export const cliCases: readonly CliCase[] = [
  ...rows.map(([words, code, says]) => ({ words, code, says })),
  withFile("a.json", "{", { code: 2, says: /a\.json: got `\{`, expected JSON/ }),
  withFile("a.json", new Uint8Array([0x7b, 0xff, 0x7d]), { code: 2, says: /UTF-8/ }),
  withFile("a.json", '{"n":1e309}', { code: 2, says: /a\.json\.n: got 1e309/ }),
  withFile("a.jsonl", '{"n":1}\n\n{"n":1e309}\n', { code: 2, says: /a\.jsonl:3\.n: got 1e309/ }),
  withFile("a.jsonl", '{"n":1}\n{"n":', { code: 2, says: /a\.jsonl:2: got/ }),
  withFile("a.jsonl", "[]\n".repeat(10_001), { code: 2, says: /tasks: .*1\.\.10000 tasks/ }),
  withFile("a.ndjson", '{"n":1}\r\n{"n":2}\r\n', { code: 0, says: /2 tasks were added/ }),
  withFile("a.json", `[${"1,".repeat(200_000)}1]`, { code: 2, says: /more than 200000 values/ }),
  { words: enqueue("--file", "/nowhere/at-all.json"), code: 2, says: /--file: got/ },
  { words: enqueue("--file", "/"), code: 2, says: /--file: got `\/`/ },
  {
    words: ["status"],
    environment: { TASKGATE_SMTP_PASSWORD: secret },
    code: 2,
    says: /TASKGATE_SMTP_PASSWORD: expected the name of a setting/,
  },
  ...[`${secret} with a blank`, `${secret}\n`, `${secret}\u00e9`].flatMap((value) =>
    ["TASKGATE_FUNCTION_KEY", "TASKGATE_TOKEN"].map((name): CliCase => ({
      words: ["status", "--url", "http://127.0.0.1:2"],
      environment: { [name]: value },
      code: 2,
      says: new RegExp(`${name}: expected letters, digits and signs of ASCII .* not shown$`, "m"),
    })),
  ),
  {
    words: ["status"],
    environment: { TASKGATE_DATABASE_URL: "", TASKGATE_URL: `https://u:${secret}@app.example` },
    code: 2,
    says: /TASKGATE_URL: expected https:\/\/HOST, .* without a user or password, got another text/,
  },
  {
    words: ["pause", "known"],
    environment: {
      TASKGATE_DATABASE_URL: "",
      TASKGATE_URL: "http://127.0.0.1:2",
      TASKGATE_FUNCTION_KEY: secret,
    },
    code: 4,
    says: /The app at http:\/\/127\.0\.0\.1:2\/api can't be reached/,
  },
  // They belong to the command line: with a database they are no unknown settings.
  {
    words: ["status"],
    environment: { TASKGATE_URL: "https://app.example", TASKGATE_TOKEN: secret },
    code: 0,
    says: /postgres database \(TASKGATE_DATABASE_URL\)/,
  },
  {
    words: ["status"],
    environment: { TASKGATE_CONNECTIONS_MAX: secret },
    code: 2,
    says: /TASKGATE_CONNECTIONS_MAX: expected a whole number/,
  },
];

/** What must be in no output. */
export const plantedSecret = secret;
