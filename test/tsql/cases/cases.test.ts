import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { engines } from "../shipped/engines";
import { exploreReduced } from "../../tsql-server/schedule/reduction";
import { defaultBounds } from "../../tsql-server/schedule/state-graph";
import { differentEnds } from "./ends";
import { isWhole } from "../../support/whole";
import { allCases } from "./list/all";
import { knownCircle } from "./list/enqueues";
import { killCases } from "./list/kills";
import { namesOf } from "./calls";
import { proceduresOf } from "./model-case";
import { scenarioOf } from "./scenario";
import { plainVariant } from "./variants";

const folder = join(__dirname, "../../../shared/store/mssql/sql/procedures");
const operations = readdirSync(folder)
  .map((file) => file.replace(".sql", ""))
  .filter((name) => !name.startsWith("_"));

describe("the list of cases", () => {
  test("the list of cases names each case once", () => {
    const names = allCases.map(({ name }) => name);

    expect(new Set(names).size).toBe(names.length);
  });

  test("every shipped procedure is called by a case", () => {
    const called = new Set(allCases.flatMap(proceduresOf));

    expect(operations.filter((name) => !called.has(name))).toEqual([]);
  });

  test("every operation that changes something has its connection cut", () => {
    const cut = new Set(killCases.flatMap(({ call }) => namesOf(call)));
    const readers = /^(?:Check|Explain|List|Read|Sweep)/;

    expect(operations.filter((name) => !readers.test(name) && !cut.has(name))).toEqual([]);
  });
});

describe("a reduced search", () => {
  const compared = [
    "acquire-x-release",
    "start-x-pause",
    "start-x-zombie-release",
    "claim-x-same-claim",
    "enqueue-x-hand-over",
    "enqueue-x-same-key",
    "enqueue-x-end-of-the-keys-task",
    "heartbeat-x-reclaim",
    "promote-x-fail",
    "start-x-finish",
    "denial-x-give",
    "give-x-acquire",
    "add-x-dead-end-of-the-wave-before",
  ];

  const compareOn = isWhole ? (["locking", "azure"] as const) : (["azure"] as const);

  test.each(compared.flatMap((name) => compareOn.map((engine) => [name, engine] as const)))(
    "a reduced search comes to the same ends as a full one: %s, %s",
    (name, engine) => {
      const model = allCases.find((one) => one.name === name);
      if (model === undefined) throw new Error(`There is no case ${name}`);
      const scenario = scenarioOf(model, { engine, options: engines[engine], checksWaits: true });

      const ends = differentEnds(scenario, defaultBounds);

      expect(ends?.same).toBeGreaterThan(0);
      expect(ends?.different).toEqual([]);
    },
    120_000,
  );
});

describe("what the header of EnqueueTasks warns of", () => {
  test("several keyed calls in one transaction can close a circle", () => {
    const { finding } = exploreReduced(scenarioOf(knownCircle, plainVariant("azure")));

    expect(finding?.problem).toBe("no waiting: callers wait for each other in a circle");
  });
});
