import { messageOf } from "../core/foreign-value";
import { createRequire } from "node:module";
import { fitsWithNote, readDelivery } from "../admin/delivery";
import type * as EventRequests from "../admin/event-requests";
import { describeProblems } from "../admin/problem-list";
import type { Problems } from "../admin/problem-list";
import { InvalidArgumentError, isForLater } from "../core/errors";
import type { IngestEvent } from "../ports/ingest-event";
import type { AppAddress } from "../ports/task-store";
import type { EventRoute } from "../worker/define/ingest-event";
import type { Registry } from "../worker/define/registry";
import type { TaskRequest } from "../worker/define/task-ref";
import { eventKey } from "./event-key";
import { IngestWork } from "./ingest-work";
import { putBack, refuse } from "./messages";
import type { AppProcess } from "./runtime";
import type { Services } from "./services";

const requireLater = createRequire(__filename);
/** An event delivered again within this time makes nothing new. */
const eventKeyMs = 7 * 86_400_000;

/** An event as it came, and the tasks that it becomes. */
interface RoutedEvent {
  readonly given: unknown;
  readonly requests: readonly TaskRequest[];
}

/** A message or an event that can't be used, and why. */
interface RefusedEvent {
  readonly given: unknown;
  readonly reason: string;
}

/** What became of events: the rest was enqueued. */
interface Outcome {
  readonly refused: readonly RefusedEvent[];
  readonly later: readonly RoutedEvent[];
}

/**
 * Queue `taskgate-ingest`: an event becomes tasks, once, however often it is delivered: the dedupe key is made of the
 * event's source and id, never of the message's. While the database is away events are put back, with a growing delay.
 * The tasks begin in the same invocation, for a few seconds; a hint is left for the rest.
 * What can't be read, and what no route takes, goes to the poison queue at once, with the reason; the other events of the
 * same message don't go with it.
 */
export function ingest(app: AppProcess, message: unknown): Promise<void> {
  return app.invocations.counted(async () => {
    const services = await app.services();
    const delivery = readDelivery(message);
    const { events = [] } = app.app;
    const { routed, refused } = sort(events, delivery.message, services);
    const work = new IngestWork(app);
    try {
      const outcome = await enqueue(work, routed);
      for (const message of bundles(outcome.later, delivery.tries + 1))
        await putBack(services, "ingest", { message, tries: delivery.tries });
      for (const { given, reason } of [...refused, ...outcome.refused])
        await refuse(services, "ingest", { message: given, reason });
    } finally {
      // The events are tasks by now: the message ends well even where these fail.
      await work.settled();
    }
  });
}

/** What of a message becomes tasks, and what doesn't. */
function sort(
  routes: readonly EventRoute[],
  message: unknown,
  { registry, address }: Services,
): { routed: RoutedEvent[]; refused: RefusedEvent[] } {
  // Its schemas are loaded by the first message.
  const { readEachEvent } = requireLater("../admin/event-requests") as typeof EventRequests;
  const events = readEachEvent(message);
  if (!events.ok) return { routed: [], refused: [{ given: message, reason: sayOf(events) }] };
  const routed: RoutedEvent[] = [];
  const refused: RefusedEvent[] = [];
  for (const { given, read } of events.value) {
    const requests = read.ok
      ? toRequests(routes, read.value, registry)
      : sayOf(read) + encodingHint(given, address);
    if (typeof requests === "string") refused.push({ given, reason: requests });
    else routed.push({ given, requests });
  }
  return { routed, refused };
}

/** The tasks of an event, or why there are none. */
function toRequests(
  routes: readonly EventRoute[],
  event: IngestEvent,
  registry: Registry,
): TaskRequest[] | string {
  try {
    const matching = routes.filter((route) => route.matches(event));
    if (matching.length === 0) {
      return `No route takes events of type \`${event.type}\` from \`${event.source}\`; add one to the \`events\` of \`taskgate({ .. })\``;
    }
    const requests = matching.flatMap((route) => route.toTasks(event));
    const counts = new Map<string, number>();
    return requests.map((request) => {
      const { kind } = request.task;
      const index = counts.get(kind) ?? 0;
      counts.set(kind, index + 1);
      // The kind's own key is of the payload, and no other is taken.
      if (registry.kind(kind)?.rules.dedupeBy != null) return request;
      // A key of the route's own is held as its options say, until the task ends where they don't.
      if (request.dedupeKey !== undefined) return request;
      const { dedupeMs = eventKeyMs } = request;
      return { ...request, dedupeKey: eventKey(event, { kind, index }), dedupeMs };
    });
  } catch (error) {
    return `Its route failed: ${messageOf(error)}`;
  }
}

/** All at once; where the store refuses a value, one event after the other, so that it keeps out that one only. */
async function enqueue(work: IngestWork, events: readonly RoutedEvent[]): Promise<Outcome> {
  try {
    const requests = events.flatMap((event) => event.requests);
    if (requests.length > 0) await work.enqueue(requests);
    return { refused: [], later: [] };
  } catch (error) {
    if (isForLater(error)) return { refused: [], later: events };
    if (!(error instanceof InvalidArgumentError)) throw error;
    const [first] = events;
    if (events.length === 1 && first !== undefined)
      return { refused: [{ given: first.given, reason: messageOf(error) }], later: [] };
    return enqueueEach(work, events);
  }
}

async function enqueueEach(work: IngestWork, events: readonly RoutedEvent[]): Promise<Outcome> {
  const refused: RefusedEvent[] = [];
  for (const [index, event] of events.entries()) {
    const outcome = await enqueue(work, [event]);
    refused.push(...outcome.refused);
    if (outcome.later.length > 0) return { refused, later: events.slice(index) };
  }
  return { refused, later: [] };
}

/** Messages that hold the events as they came, each as large as a queue takes with its count. */
function bundles(events: readonly RoutedEvent[], tries: number): unknown[] {
  if (events.length === 0) return [];
  const given = events.map((event) => event.given);
  const message = given.length === 1 ? given[0] : given;
  if (given.length === 1 || fitsWithNote(message, tries)) return [message];
  const half = Math.ceil(events.length / 2);
  return [...bundles(events.slice(0, half), tries), ...bundles(events.slice(half), tries)];
}

/** Senders of most libraries and of Event Grid encode; a host that is told not to decode hands their texts on. */
function encodingHint(message: unknown, { encoding }: AppAddress): string {
  if (encoding !== "none" || typeof message !== "string") return "";
  if (!/^[\w+/]+={0,2}$/.test(message)) return "";
  const isJson = /^\s*[[{]/.test(Buffer.from(message, "base64").toString("utf8"));
  const hint = "It looks like base64, and host.json says messageEncoding none: send plain text";
  return isJson ? `. ${hint}` : "";
}

function sayOf(found: Problems): string {
  return `Not an event: ${describeProblems(found)}`;
}
