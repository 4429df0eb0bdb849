import { startAzurite } from "../../../shared/local/azurite";
import { playOutage } from "./play";
import type { OutageKind } from "./servers";
import { readWords } from "../../support/script-words";

const usage = `npm run nightly -- [--events N] [--minutes N] [--factor N] [--visibility N] [--kinds refused,silent,40613]

Plays outages one after the other and prints a table; ends with 1 when one message was poisoned or one event is missing
or there twice.`;

const { values } = readWords(usage, {
  options: {
    events: { type: "string", default: "1000" },
    minutes: { type: "string", default: "15" },
    factor: { type: "string", default: "20" },
    visibility: { type: "string" },
    kinds: { type: "string", default: "refused,silent,40613" },
  },
});

async function main(): Promise<number> {
  const azurite = await startAzurite();
  const events = Number(values.events);
  const factor = Number(values.factor);
  const rows: string[] = [];
  let isGood = true;
  for (const kind of values.kinds.split(",") as OutageKind[]) {
    const result = await playOutage({
      kind,
      events,
      outageMs: Number(values.minutes) * 60_000,
      factor,
      ...(values.visibility === undefined ? {} : { visibilityFactor: Number(values.visibility) }),
      connectionString: azurite.connectionString,
    });
    const { poisoned, ingested, tasks } = result;
    isGood &&= poisoned.events + poisoned.hints === 0 && ingested === events && tasks === events;
    const cells = [
      kind,
      events,
      poisoned.events + poisoned.hints,
      ingested,
      tasks,
      result.deliveries,
      result.failed.length,
      (result.longestMs / 1_000).toFixed(1),
      result.attempts ?? "-",
      (result.drainMs / 1_000).toFixed(1),
    ];
    rows.push(`| ${cells.join(" | ")} |`);
    console.log(rows.at(-1));
    for (const line of result.failed) console.log(line);
  }
  await azurite.stop();
  console.log(
    [
      `Outage of ${values.minutes} min, time ${String(factor)} times as fast, visibility ${values.visibility ?? String(factor)} times.`,
      "| kind | events | poisoned | ingested | tasks | deliveries | thrown | longest s | connects | drained s |",
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
      ...rows,
    ].join("\n"),
  );
  return isGood ? 0 : 1;
}

void main().then((code) => (process.exitCode = code));
