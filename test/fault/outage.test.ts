/*
 * The database goes away while events and hints come in, and comes back: the compiled app, a real queue emulator, and a
 * database that is away in each of three ways. 15 minutes pass as 15 seconds: every time of the app's process is divided
 * by 60, the visibility of messages too, but for whole seconds. `npm run nightly` plays it with 1,000 events.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import { ensureBuilt } from "../functions/built-app";
import { playOutage } from "./outage/play";
import type { OutageResult } from "./outage/play";
import type { OutageKind } from "./outage/servers";

const factor = 60;
const outageMs = 900_000;
const events = 60;
const kinds: readonly OutageKind[] = ["refused", "silent", "40613"];

let azurite: Azurite;
let results: ReadonlyMap<OutageKind, OutageResult>;

/** Side by side: most of the time is waiting. */
beforeAll(async () => {
  ensureBuilt();
  azurite = await startAzurite();
  const { connectionString } = azurite;
  const plays = kinds.map(
    async (kind) =>
      [kind, await playOutage({ kind, events, outageMs, factor, connectionString })] as const,
  );
  results = new Map(await Promise.all(plays));
}, 300_000);
afterAll(() => azurite.stop());

describe.each(kinds)("ingest and run while the database is away (%s)", (kind) => {
  const result = (): OutageResult => {
    const found = results.get(kind);
    if (found === undefined) throw new Error("It wasn't played");
    return found;
  };

  test("no invocation throws, and no event and no hint goes to a poison queue", () => {
    expect(result()).toMatchObject({ failed: [], poisoned: { events: 0, hints: 0 } });
  });

  test("each event is ingested once", () => {
    expect(result()).toMatchObject({ ingested: events, tasks: events });
  });

  test("events were put back and delivered again until the database was back", () => {
    expect(result().deliveries).toBeGreaterThan(2 * events);
  });
});
