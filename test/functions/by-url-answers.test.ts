import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { commands } from "../../shared/cli/commands";
import { startWorker } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { makeIncident } from "./dashboard-incident";
import type { Incident } from "./dashboard-incident";
import { evenedOut } from "./evened-out";
import { fewOf } from "../support/whole";

/*
 * Goal: a command by an app's address answers what it answers with a database, to people and to programs, and changes the same.
 * Method: a database as an operator meets it at night. Each command that looks is asked by both ways; each change is made with a
 * database of that kind, and by an app's address on another one.
 */
let near: ApiSetup;
let far: ApiSetup;
let incident: Incident;
let waiting = "";

beforeAll(async () => {
  [near, far] = [await setupApi(), await setupApi()];
  incident = await makeIncident(near);
  await makeIncident(far);
  // One execution is over: only --all lists it.
  for (const { store } of [near, far]) await (await startWorker(store, "archive-logs")).finish();
  const { tasks } = await near.admin.tasks({
    definition: "parse-movies",
    states: ["ready"],
    max: 1,
  });
  waiting = tasks[0]?.task ?? "";
}, 180_000);
afterAll(async () => {
  await near.close();
  await far.close();
});

/** A minute may end between two looks. */
const triesMax = 3;

/** The same database is asked twice. */
async function expectSame(words: readonly string[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const [one, other] = [await near.taskgate(...words), await near.byUrl(...words)];
    const [text, same] = [evenedOut(one.out), evenedOut(other.out)];
    if (text !== same && tries < triesMax) continue;
    expect({ code: other.code, text: same }).toEqual({ code: one.code, text });
    expect([words, one.code]).toEqual([words, 0]);
    return;
  }
}

const states = ["waiting", "dead", "done", "ready", "scheduled", "claimed", "cancelled"];
const looks: readonly string[] = [
  ...["status", "top", "top import-orders", "top send-invoice"],
  ...["hour", "day", "week"].map((window) => `statistics import-orders --window ${window}`),
  ...["definitions", "definitions import-orders", "limits", "limits -n 3", "limits partner-api"],
  ...["executions", "executions --all", "executions import-orders -n 1"],
  ...fewOf(states, 3).flatMap((state) => [
    `tasks import-orders --state ${state}`,
    `tasks send-invoice --state ${state} -n 2`,
  ]),
  ...["tasks import-orders --oldest", "failures", "failures send-invoice -n 1"],
  ...["explain DEAD", "explain RUNNING", "explain READY"],
  ...[
    "groups",
    "groups import-orders",
    "groups --key customer-G",
    "group import-orders customer-G",
  ],
  ...["schedules", "schedules nightly-report", "watermarks", "batches", "batches -n 1"],
  ...["batch BATCH", "batches --before BATCH", "audit", "audit -n 100", "audit import-orders"],
  ...[
    "audit --action set_limit",
    "audit --since 1h",
    "audit --actor test",
    "audit --since 7d -n 3",
    "audit --batch BATCH",
  ],
  ...["limit import-orders", "rate mail-newsletter", "owner import-orders"],
  ...["export send-invoice --state dead", "export import-orders -n 3", "completion names"],
];

function wordsOf(line: string): string[] {
  const { dead, running, ready, batch } = incident;
  const ids: Record<string, string> = {
    ...{ DEAD: dead, RUNNING: running, READY: ready, WAITING: waiting, BATCH: batch },
  };
  return line.split(" ").map((word) => ids[word] ?? word);
}

describe("a command that looks says by an app's address what it says with a database", () => {
  test("every one of them is asked", () => {
    const names = commands.filter(({ group }) => group === "look").map(({ name }) => name);
    const asked = new Set(looks.map((line) => line.split(" ")[0]));
    expect(names.filter((name) => !asked.has(name))).toEqual([]);
  });

  test.each(looks)(
    "the command taskgate %s says the same of an app's address as of a database",
    async (line) => {
      await expectSame(wordsOf(line));
      await expectSame([...wordsOf(line), "--json"]);
    },
  );
});

/** In this order; later ones see what earlier ones have done. */
const changes: readonly string[] = [
  ...["limit import-orders 2 -r r1", "limit import-orders code", "limit flights none"],
  ...["limit partner-api 9 --shared -r r2", "limit other-api 1 --shared"],
  ...["limit other-api 1 --shared --create", "limit other-api 2 --shared"],
  ...["rate flights 5/s --burst 2 -r r3", "rate flights 5/s", "rate flights none"],
  ...["rate flights code", "owner flights billing -r r4", "owner flights --release"],
  ...["pause flights -r r5", "pause flights", "resume flights -r r6"],
  ...["group import-orders customer-G --slots 3 -r r7", "group import-orders customer-Z --pause"],
  ...["group import-orders customer-G --strict", "group import-orders customer-Z --resume"],
  ...["group import-orders customer-G --slots 2 --global", "schedule nightly-report daily --pause"],
  ...["schedule nightly-report daily --resume -r r8", "schedule nightly-report nobody --pause"],
  ...["schedule nightly-report daily --run --for 2090-01-31T08:30:00Z --reason asked"],
  ...["enqueue flights", "enqueue flights --priority 7 --group g --dedupe-key k"],
  ...["enqueue flights --dedupe-key k", "enqueue flights --dedupe-key k --replace"],
  ...["enqueue flights --run-in 10m", "reschedule 2090-01-31T08:30:00Z WAITING -r r9"],
  ...[
    "reschedule 1h WAITING 999999",
    "reschedule now WAITING",
    "reschedule 2090-02-01T00:00:00Z WAITING",
  ],
  ...["cancel RUNNING READY 999999 -r r10", "redrive DEAD RUNNING -r r11"],
  ...["redrive send-invoice --all -n 2 -r r12", "redrive send-invoice --all --outcome cancelled"],
  ...[
    'watermark flights by-day --set {"day":1} -r r13',
    "watermark flights by-day --from-version 9 --clear",
    "watermark flights by-dai --clear",
  ],
  ...["watermark flights by-day --from-version 1 --clear", "watermark flights by-day"],
  ...["batch BATCH --cancel -r r14", "batch BATCH --resume", "stop --all -r move", "stop --all"],
  ...["resume --all -r r15", "resume --all", "pause nobody", "limit nobody 1", "explain 999999"],
];

describe("a command that changes something does by an app's address what it does with a database", () => {
  const lines = changes.map((line, at): [number, string] => [at, line]);
  // Definitions and schedules are stopped and resumed several at a time: the order of their ends is chance.
  const linesOf = (text: string): string[] => evenedOut(text).split(/,?\n/).sort();

  test.each(lines)(
    "the command %i, taskgate %s, does the same by an app's address as with a database",
    async (_, line) => {
      const words = [...wordsOf(line), "--json"];
      const [one, other] = [await near.taskgate(...words), await far.byUrl(...words)];
      expect({ code: other.code, out: linesOf(other.out) }).toEqual({
        code: one.code,
        out: linesOf(one.out),
      });
    },
  );

  test.each([
    ...["definitions", "groups", "watermarks", "limits", "schedules"],
    ...["audit -n 100", "batches", "tasks flights", "tasks send-invoice --state dead"],
    ...["tasks parse-movies --state scheduled", "export nightly-report"],
  ])("the command `taskgate %s` answers the same of both databases afterwards", async (line) => {
    const words = [...line.split(" "), "--json"];
    const [one, other] = [await near.taskgate(...words), await far.taskgate(...words)];
    expect(linesOf(other.out)).toEqual(linesOf(one.out));
  });
});

test("taskgate limits names near limits where there is none of that name", async () => {
  for (const answer of [
    await near.taskgate("limits", "parner-api"),
    await near.byUrl("limits", "parner-api"),
  ]) {
    expect(answer.code).toBe(3);
    expect(answer.out).toContain("definition or of a shared limit; did you mean `partner-api`");
  }
});

test("taskgate group says that a group is one of all definitions", async () => {
  const { out } = await near.taskgate(
    "group",
    "import-orders",
    "all-7",
    "--global",
    "--slots",
    "2",
  );
  expect(out).toMatch(/^Group all-7 of all definitions has 2 slots \(new\)/);
});
