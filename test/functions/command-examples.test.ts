import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { commands } from "../../shared/cli/commands";
import { runCli } from "../../shared/cli/main";
import { readBlock } from "../docs/markdown";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import { bashWords } from "../support/bash";
import { enqueue, operationId, startWorker } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { ensureBuilt, root } from "./built-app";
import { evenedOut } from "./evened-out";

// Goal: every example of the help does what it says, as it is written, on a database and by an app's address alike. Method:
// bash reads the line, so quotes and pipes mean what they mean at a prompt; the command runs on PostgreSQL and the queue
// emulator, with everything that the examples name; then again on such a database behind an app.
type Face = "a database" | "the address of an app";
let face: Face;
let api: ApiSetup;
let azurite: Azurite;
let folder: string;

beforeAll(async () => {
  ensureBuilt();
  azurite = await startAzurite();
}, 180_000);
afterAll(() => azurite.stop());

/** Everything that the examples name. */
async function setUp(begun: Face): Promise<void> {
  face = begun;
  folder = mkdtempSync(join(tmpdir(), "taskgate-examples-"));
  const program = join(root, "dist/shared/cli/main.js");
  writeFileSync(
    join(folder, "taskgate"),
    `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`,
  );
  chmodSync(join(folder, "taskgate"), 0o755);
  api = await setupApi();
  const { store } = api;
  await api.register("import-orders");
  await api.register("greet", { sharedLimits: [{ name: "partner-api", limit: 3 }] });
  await api.register("report");
  await store.createBatch({
    operationId: operationId(),
    name: "nightly",
    waves: 1,
    failurePolicy: "halt",
  });
  const empty = { operationId: operationId(), name: "weekly", waves: 1 } as const;
  const { batchId } = await store.createBatch({ ...empty, failurePolicy: "halt" });
  await store.startBatch({ batchId, seal: true });
  await setSchedule();
  await store.setWatermark({
    name: "import-orders",
    watermark: "by-id",
    value: '{"last":"8000"}',
    changedBy: "code",
    operationId: operationId(),
  });
  await plantTasks();
  await plantMessage();
}

async function tearDown(): Promise<void> {
  rmSync(folder, { recursive: true });
  await api.close();
}

/** Tasks 1 to 16 wait, 17 and 18 are dead, 19 waits, 20 is cancelled, 21 is the first one of a group. */
async function plantTasks(): Promise<void> {
  const { store } = api;
  expect((await enqueue(store, "import-orders", 16)).at(-1)).toBe("16");
  await enqueue(store, "greet", [{ payload: '{"name":"Ada"}' }, {}, {}]);
  const worker = await startWorker(store, "greet");
  await worker.fail(await worker.claim(2), { as: "dead", error: "Error: it broke" });
  await worker.finish();
  await store.cancelTasks({ taskIds: await enqueue(store, "greet", 1) });
  expect(await enqueue(store, "greet", [{ group: "customer-7" }])).toEqual(["21"]);
}

/** A message that was refused. */
async function plantMessage(): Promise<void> {
  const service = QueueServiceClient.fromConnectionString(azurite.connectionString);
  const queue = service.getQueueClient("taskgate-ingest-poison");
  await queue.createIfNotExists();
  await queue.sendMessage(Buffer.from("{}").toString("base64"));
}

async function setSchedule(): Promise<void> {
  const nightly = {
    name: "nightly",
    kind: "report",
    cron: "0 2 * * *",
    timeZone: "UTC",
    missed: "once",
    payload: null,
    group: null,
    nextRunAt: new Date("2090-01-01T02:00:00Z"),
  } as const;
  const schedules = [nightly];
  await api.store.setSchedules({ name: "report", build: 7, changedBy: "code", schedules });
}

/** The words that bash gives to `taskgate`. */
function wordsOf(line: string): string[] {
  const script = `taskgate() { printf '%s\\0' "$@"; }; ${line}`;
  return execFileSync("bash", bashWords(script), { encoding: "utf8" }).split("\0").slice(0, -1);
}

async function environmentOf(line: string): Promise<Record<string, string>> {
  const storage = { AzureWebJobsStorage: azurite.connectionString };
  if (face === "the address of an app") return { TASKGATE_URL: await api.appUrl() };
  // Only the owner migrates.
  const url = line.includes("taskgate migrate") ? api.ownerUrl : api.operatorUrl;
  return { TASKGATE_DATABASE_URL: url, ...storage };
}

async function run(line: string): Promise<{ code: number; out: string }> {
  const environment = await environmentOf(line);
  if (line.includes("|")) {
    const { HOME, PATH = "" } = process.env;
    const env = { ...environment, HOME, PATH: `${folder}:${PATH}` };
    const { stdout } = await promisify(execFile)("bash", bashWords(line), { env });
    return { code: 0, out: stdout };
  }
  const lines: string[] = [];
  const output = {
    line: (text: string) => void lines.push(text),
    error: (text: string) => void lines.push(text),
    columns: null,
  };
  // A person who watches looks twice, then types Ctrl+C.
  let looks = 0;
  const repeater = () => ({ pause: () => Promise.resolve(++looks < 2) });
  const code = await runCli({ words: wordsOf(line), environment, folder, output, repeater });
  return { code, out: lines.join("\n") };
}

/** What each example answers, in the order of the help: later ones see what earlier ones have done. */
const answers: Readonly<Record<string, RegExp>> = {
  "taskgate status": /18 ready, 0 scheduled, 0 waiting for a group, 2 dead/,
  "taskgate status --watch": /18 ready(.*\n)+.*18 ready/,
  "taskgate status --json": /^\{\n {2}"dialect": "postgres"/,
  "taskgate top --watch": /^import-orders|greet +0\/4 +0 +18 /m,
  "taskgate top greet": /^oldest ready task +\d+, /m,
  "taskgate statistics greet": /^window +the last hour, not counted yet$/m,
  "taskgate statistics greet --window week --json": /"periodCount": 168/,
  "taskgate definitions": /^DEFINITION .*\ngreet .*\nimport-orders .*\nreport /,
  "taskgate definitions greet": /^shared: partner-api +3, 0 held by all/m,
  "taskgate limits": /^greet +definition .*\n(.*\n)+partner-api +shared/m,
  "taskgate limits partner-api": /^NAME .*\npartner-api +shared +3 .* greet 0$/,
  "taskgate executions": /^No execution is open\.$/,
  "taskgate executions greet --all -n 20": /^ +1 +greet +ended /m,
  "taskgate tasks greet": /^ +19 (.*\n)+ +21 /m,
  "taskgate tasks greet --state dead -n 10": /^ +18 .* it broke\n +17 .* it broke$/m,
  "taskgate tasks greet --oldest -n 5": /^TASK +AGE .*\n +19 +\d.*\n +21 +\d.*$/m,
  "taskgate tasks greet --state dead --error 'it broke' --ended-since 1d":
    /^ +18 .* it broke\n +17 .* it broke$/m,
  "taskgate tasks greet --where name=Ada --ended-since 2h": /^ +17 +greet +dead /m,
  "taskgate failures": /^ +2 +greet .* it broke$/m,
  "taskgate failures greet -n 5": /^ +2 +greet .* it broke$/m,
  "taskgate failures --batch 1": /^No task of batch 1 is dead\.$/,
  "taskgate explain 17": /Task 17 \(`greet`\) is dead/,
  "taskgate groups greet": /^greet +customer-7 +1 +1 +0$/m,
  "taskgate groups --key customer-7": /^greet +customer-7 /m,
  "taskgate schedules": /^report +nightly .*2090-01-01/m,
  "taskgate schedules report": /^report +nightly /m,
  "taskgate watermarks": /by-id .*\{"last":"8000"\}/,
  "taskgate watermarks import-orders": /by-id .*\{"last":"8000"\}/,
  "taskgate batches -n 5": /^ +1 +nightly +draft/m,
  "taskgate batches --before 100": /^ +1 +nightly +draft/m,
  "taskgate audit": /register_definition +import-orders/,
  "taskgate audit greet --since 7d": /register_definition +greet +limit none -> /,
  "taskgate audit --action cancel_tasks": /cancel_tasks +greet +1 task \(20\)/,
  "taskgate export greet --state dead":
    /^\{"task":"18","definition":"greet",.*"error":"Error: it broke","payload":.*\}\n\{"task":"17"/,
  "taskgate export greet --state dead --error 'it broke' --ended-since 1d":
    /^\{"task":"18","definition":"greet",.*"error":"Error: it broke","payload":.*\}\n\{"task":"17"/,
  "taskgate export greet --state dead | taskgate enqueue greet --from - --priority 200":
    /^2 tasks were added to greet, 0 were there already\./,
  [`taskgate enqueue greet --payload '{"name":"Ada"}'`]: /^Task 24 was added to greet\./,
  "taskgate enqueue greet --run-in 10m": /^Task 25 .* It is due in (10|9) min/,
  [`echo '{"name":"Ada"}' | taskgate enqueue greet --file -`]: /^Task 26 was added/,
  [String.raw`printf 'id,name\n7,Ada\n8,Bo\n' | taskgate enqueue greet --from - --format csv --key-field id`]:
    /^2 tasks were added to greet, 0 were there already\./,
  "taskgate limit greet": /^greet +definition +4 /m,
  "taskgate limit greet --watch": /^greet +definition +4 (.*\n)+greet +definition +4 /m,
  [`taskgate limit greet 3 --reason "the partner is slow"`]: /is 3, it was 4\./,
  "taskgate limit greet code": /is 4, it was 3\./,
  "taskgate limit partner-api 4 --shared": /^The shared limit partner-api is 4, it was 3\./,
  "taskgate rate greet": /^The rate of greet is none \(set by the code\)\.$/,
  "taskgate rate greet 100/min --burst 5": /is 100 per 1 min, 5 at once, it was none\.$/,
  "taskgate rate greet code": /is none, it was 100 per 1 min, 5 at once\.$/,
  "taskgate owner greet": /^greet belongs to no app\.$/,
  "taskgate owner greet billing": /^greet belongs to billing, it belonged to no app\.$/,
  "taskgate owner greet --release": /^greet belongs to no app, it was billing's\.$/,
  [`taskgate pause greet --reason "the partner is down"`]: /^greet is paused/,
  "taskgate resume greet": /^greet is resumed\.$/,
  "taskgate resume --all": /^There is nothing to resume: no stop is on\.$/,
  [`taskgate stop --all --reason "the database is being moved"`]:
    /^3 definitions and 1 schedule stopped\./,
  [`taskgate cancel 10 12 --reason "ordered twice"`]: /^2 tasks are cancelled: 10, 12$/,
  "taskgate cancel greet --all --since 2030-01-31T08:30:00Z --dry-run":
    /^There is no such task of greet\.$/,
  "taskgate cancel greet --all --where name=Ada": /^4 tasks are cancelled\.$/,
  "taskgate redrive 17": /^1 task will run again: 17$/,
  [`taskgate redrive greet --all --like "Error: it broke"`]: /^1 task will run again\.$/,
  "taskgate redrive greet --all": /^There is no such task of greet\.$/,
  "taskgate redrive greet --all --outcome cancelled -n 50": /^5 tasks will run again\.$/,
  "taskgate reschedule 10m 13 14": /^2 tasks are rescheduled: 13, 14$/,
  "taskgate reschedule 2030-01-31T08:30:00Z 13": /^1 task is rescheduled: 13$/,
  "taskgate reschedule now 13": /^1 task is rescheduled: 13$/,
  "taskgate reschedule now greet --all --since 1h": /^1 task is rescheduled\.$/,
  "taskgate group greet customer-7": /^greet +customer-7 +1 +1 +0$/m,
  "taskgate group greet customer-7 --slots 2": /has 2 slots \(it had 1\): 1 used/,
  "taskgate group greet customer-7 --pause": /, paused: /,
  "taskgate schedule report nightly": /^report +nightly /m,
  "taskgate schedule report nightly --pause": /^Schedule nightly of report is paused already\.$/,
  "taskgate schedule report nightly --run":
    /^Task \d+ was added to report, as schedule nightly would\.$/,
  "taskgate watermark import-orders by-id": /by-id of import-orders: \{"last":"8000"\}, version 1,/,
  [`taskgate watermark import-orders by-id --set '{"last":"5000"}'`]: /version 2; it was .*8000/,
  "taskgate watermark import-orders by-id --clear": /is none now, version 3; it was .*5000/,
  "taskgate batch 1": /^Batch 1, nightly: draft/,
  "taskgate batch 2 --follow": /^Batch 2, weekly: done, 0 of 0 tasks ended/,
  "taskgate batch 2 --watch": /^Batch 2, weekly: done(.*\n)+Batch 2, weekly: done/,
  "taskgate batch 1 --cancel": /^Cancelled: 0 admitted tasks/,
  "taskgate replay ingest --dry-run":
    /^taskgate-ingest-poison holds about 1 message; nothing was moved/,
  "taskgate replay ingest": /^1 message is in taskgate-ingest again\.$/m,
  "taskgate migrate": /^The schema is up to date; nothing was to do\.$/,
  "taskgate migrate --check": /^The schema is at version \d+ and fits Taskgate/,
  "taskgate stamp": /^Build \d{13} is written to taskgate-build\.json\.$/,
  "taskgate doctor": /^ok +hint queue: Queue taskgate-hints answers/m,
  "taskgate doctor --deep": /^ok +promises: /m,
  "taskgate doctor --latency": /^note +latency: Not measured: no app has the probe/m,
  "taskgate completion bash": /^complete -o default -F _taskgate taskgate$/m,
  "taskgate completion zsh": /^compdef _taskgate taskgate$/m,
  "taskgate version": /^\d+\.\d+\.\d+(-pre)?$/,
};

/** On PostgreSQL an example of Azure SQL gets as far as this. */
const azureExample = "taskgate migrate --wait 10m --grant app:6f1c2f6e-3f0d-4d6b-9a51-0d0f6b2f3c11";

/** They change an app or run it until it is ended: each has a test of its own (test/docs/judged-blocks.ts). */
const appCommands = ["init", "dev", "eject", "work"];

const examples = commands.flatMap(({ name, examples: of }) =>
  of.map(({ line }) => ({ name, line })),
);

/** What an app can't do for these: the exit code, and what is said. */
const onlyWithDatabase: Readonly<Record<string, readonly [code: number, says: RegExp]>> = {
  "taskgate replay ingest --dry-run": [2, /works on the storage account itself/],
  "taskgate replay ingest": [2, /`taskgate replay` works on the storage account itself/],
  "taskgate migrate": [
    2,
    /expected none: `taskgate migrate` works on the database itself; give --db/,
  ],
  "taskgate migrate --check": [2, /`taskgate migrate` works on the database itself; give --db/],
  "taskgate doctor --deep": [2, /^taskgate: --deep: got set, expected it with --db only/m],
};
/** An app shows a part of this. */
const shorter: Readonly<Record<string, RegExp>> = {
  "taskgate doctor": /^ok +leases: .*\nnote +database: Not looked at: schema, /m,
  "taskgate doctor --latency":
    /^ok +app: .*\n(.*\n)+note +latency: Not measured: no app has the probe/m,
};

/** What the two faces said, by line; what time and place make different is evened out. */
const said: Record<Face, Record<string, string>> = {
  "a database": {},
  "the address of an app": {},
};

test("every command has one example, and each calls its own command", () => {
  for (const { name, examples: of } of commands) {
    expect([name, of.length > 0]).toEqual([name, true]);
    for (const { line } of of) expect(line).toMatch(new RegExp(`(^|\\| )taskgate ${name}( |$)`));
  }
  const tested = examples
    .filter(({ name, line }) => line !== azureExample && !appCommands.includes(name))
    .map(({ line }) => line);
  expect(Object.keys(answers)).toEqual(tested);
});

test("docs/reference/cli.md shows for each command the examples that run here, and no other", () => {
  const shown = commands.map(({ name }) => {
    const { text } = readBlock("docs/reference/cli.md", `examples-${name}`);
    return { name, lines: text.split("\n").filter((line) => !line.startsWith("# ")) };
  });
  const known = commands.map(({ name, examples: of }) => ({
    name,
    lines: of.map(({ line }) => line),
  }));
  expect(shown).toEqual(known);
  expect(shown.flatMap(({ lines }) => lines)).toEqual(expect.arrayContaining(Object.keys(answers)));
});

describe.each<Face>(["a database", "the address of an app"])(
  "an example of the help on %s",
  (on) => {
    beforeAll(() => setUp(on), 180_000);
    afterAll(tearDown);
    const isApp = on === "the address of an app";

    test.each(Object.entries(answers))(
      "the example %s answers as the help says",
      async (line, answer) => {
        const { code, out } = await run(line);
        said[on][line] = evenedOut(out);
        const [wanted, says] = (isApp ? onlyWithDatabase[line] : undefined) ?? [
          0,
          (isApp ? shorter[line] : undefined) ?? answer,
        ];
        expect(out).toMatch(says);
        expect(code).toBe(wanted);
      },
    );

    test("the example of Azure SQL is read, and refused alone for the database", async () => {
      const { code, out } = await run(azureExample);
      expect(out).toContain(
        isApp
          ? "`taskgate migrate` works on the database itself"
          : "--grant: got set, expected it on Azure SQL only",
      );
      expect(code).toBe(2);
    });
  },
);

test("an app's address gives the same text as the database, word by word", () => {
  const different = [...Object.keys(onlyWithDatabase), ...Object.keys(shorter)];
  const lines = Object.keys(answers).filter((line) => !different.includes(line));
  const textsOf = (of: Face): object =>
    Object.fromEntries(lines.map((line) => [line, said[of][line]]));
  expect(textsOf("the address of an app")).toEqual(textsOf("a database"));
});
