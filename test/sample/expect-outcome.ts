/** What a whole run of the sample leaves in its database, of either kind. */
import { expect } from "@jest/globals";
import { plantedRows } from "../../functions/tasks/flights/planted-rows";
import { readResults } from "../../functions/tasks/flights/results";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import { computeResults } from "./expected-results";

/** The result tables are those of a direct computation from the files. */
export async function expectResults(url: string): Promise<void> {
  const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  const [files, byOrigin, byHour, routes] = await store.transaction(readResults);
  await store.close();
  const expected = computeResults();
  expect(files?.rows).toEqual([
    ["airports.csv", 3_376],
    ["flights-20k.json", 20_000],
    ["flights-2k-with-bad-rows.json", 2_009],
  ]);
  expect(byOrigin?.rows).toEqual(expected.byOrigin);
  expect(byHour?.rows).toEqual(expected.byHour);
  expect(routes?.rows).toEqual(expected.routes);
}

/** Only the planted rows are dead, each once. */
export async function expectDeadLetters(url: string): Promise<void> {
  const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  const { tasks } = await store.listTasks({ name: "check-row", state: "dead", max: 100 });
  const { definitions } = await store.listDefinitions({});
  await store.close();
  const errors = tasks.map((task) => task.error ?? "");
  expect(errors).toHaveLength(plantedRows.length);
  for (const { row, problem } of plantedRows) {
    expect(errors.filter((error) => error.includes(` row ${String(row)}.${problem}`))).toHaveLength(
      1,
    );
  }
  expect(definitions.reduce((sum, { dead }) => sum + dead, 0)).toBe(plantedRows.length);
}

/** `check_invariants` finds nothing. */
export async function expectSoundStore(url: string): Promise<void> {
  const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  const answer = await store.checkInvariants();
  await store.close();
  expect(answer).toEqual({ status: "sound", findings: [] });
}
