import type { JsonObject } from "../core/json";
import { ObjectReader } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { parseJson } from "./parse-json";
import { findUnstorable, isUncertain } from "./payload";
import { ProblemList, SearchBudget } from "./problem-list";
import { parseMessage, readHint, refused } from "./requests";

/** Reads the events of the ingest queue, in any of three forms. */

/** An event from outside, in any of the known forms. */
export interface OutsideEvent {
  /** Unique within its source. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** What it is about; empty where nothing is said. */
  readonly subject: string;
  /** As the sender wrote it; null where nothing is said. */
  readonly time: string | null;
  readonly data: JsonObject;
}

/** One event as it came, and the fields read from it. */
export interface GivenEvent {
  readonly given: unknown;
  readonly read: ReadResult<OutsideEvent>;
}

/** Most events of one message. */
const eventsMax = 1_000;
/** Ids, sources, types and subjects of events: a blob's subject may be as long as its path. */
const eventTextRule = { min: 1, max: 2_000 } as const;
/** The data of an event becomes payloads, and payloads of events are objects. */
const dataRule =
  "a JSON object: text, numbers, arrays and bytes go into a member of one, or into a blob that it names";

/** How the members of an event are called in each form. */
const eventForms = {
  own: { id: "eventId", source: "source", type: "type", time: "time" },
  cloudEvents: { id: "id", source: "source", type: "type", time: "time" },
  eventGrid: { id: "id", source: "topic", type: "eventType", time: "eventTime" },
} as const;
type EventForm = keyof typeof eventForms;

/**
 * Events of the ingest queue, one or an array of 1..1,000, each read for itself, in any of three forms: our own
 * `{ eventId, source, type, subject?, time?, data? }`, CloudEvents 1.0 in JSON (`specversion` tells), Event Grid's schema
 * (`eventType` tells). `data` is an object, {} where it is missing; of CloudEvents also as `data_base64`. The two foreign
 * forms may carry further members, ours may not.
 */
export function readEachEvent(message: unknown): ReadResult<GivenEvent[]> {
  const read = parseMessage(message);
  if (!read.ok) return read;
  const parsed = read.value;
  if (!Array.isArray(parsed)) return { ok: true, value: [readEvent(parsed, new SearchBudget())] };
  if (parsed.length < 1 || parsed.length > eventsMax) {
    return refused("message", parsed, `an event or an array of 1..${String(eventsMax)} events`);
  }
  const searches = new SearchBudget();
  return { ok: true, value: parsed.map((given) => readEvent(given, searches)) };
}

/** All events of a message, or every problem of any of them. */
export function readEvents(message: unknown): ReadResult<OutsideEvent[]> {
  const each = readEachEvent(message);
  if (!each.ok) return each;
  const problems = new ProblemList();
  const value: OutsideEvent[] = [];
  for (const { read } of each.value) {
    if (read.ok) value.push(read.value);
    else problems.addAll(read);
  }
  return problems.isEmpty ? { ok: true, value } : { ok: false, ...problems.answer() };
}

/** All readers of queue messages, by queue; the tests of bad input go through them. */
export const queueReaders = { hints: readHint, ingest: readEvents } as const;

function readEvent(given: unknown, searches: SearchBudget): GivenEvent {
  const form = formOf(given);
  const names = eventForms[form];
  const own = [...Object.values(names), "subject", "data"];
  const known = form === "own" ? own : [...own, ...Object.keys(given as object)];
  const reader = ObjectReader.open(given, {
    known,
    root: "message",
    problems: new ProblemList(searches),
  });
  if (form === "cloudEvents" && reader.raw("specversion") !== "1.0")
    reader.refuse("specversion", `"1.0"`);
  const event: OutsideEvent = {
    id: reader.requiredText(names.id, eventTextRule),
    source: reader.requiredText(names.source, eventTextRule),
    type: reader.requiredText(names.type, eventTextRule),
    subject: reader.text("subject", { min: 0, max: eventTextRule.max }) ?? "",
    time: reader.text(names.time, { min: 1, max: 100 }),
    data:
      form === "cloudEvents" && reader.has("data_base64") ? readBytes(reader) : readData(reader),
  };
  return { given, read: reader.result(event) };
}

function formOf(given: unknown): EventForm {
  if (typeof given !== "object" || given === null) return "own";
  if ("specversion" in given) return "cloudEvents";
  return "eventType" in given ? "eventGrid" : "own";
}

function readData(reader: ObjectReader): JsonObject {
  const data = reader.raw("data") ?? {};
  return checkData(reader, "data", { data, rule: dataRule });
}

/** Whether its tasks could be stored; the Functions library has parsed the text, so its numbers can't be compared. */
function checkData(
  reader: ObjectReader,
  name: string,
  { data, rule }: { data: unknown; rule: string },
): JsonObject {
  const problem = isObject(data) ? findUnstorable(data, isUncertain) : null;
  if (isObject(data) && problem === null) return data;
  reader.refuse(name, problem === null ? rule : `a JSON object ${problem}`);
  return {};
}

/** Bytes that are a JSON object in UTF-8 are taken as it; CloudEvents allows `data` or `data_base64`, not both. */
function readBytes(reader: ObjectReader): JsonObject {
  if (reader.has("data")) reader.refuse("data_base64", "none beside `data`");
  const read = decodeJson(reader.raw("data_base64"));
  if (!read.ok) {
    reader.problems.addAll(read);
    return {};
  }
  return checkData(reader, "data_base64", { data: read.value, rule: `base64 of ${dataRule}` });
}

function decodeJson(text: unknown): ReadResult<unknown> {
  if (typeof text !== "string") return { ok: true, value: undefined };
  try {
    const bytes = Buffer.from(text, "base64");
    const json = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return parseJson(json, { root: "data_base64", at: "data_base64" });
  } catch {
    return { ok: true, value: undefined };
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
