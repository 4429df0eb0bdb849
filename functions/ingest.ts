import { readEvents } from "../shared/admin/requests";
import type { EnqueueRequest } from "../shared/worker/task-context";
import type { IngestEvent } from "./ingest-event";
import { tracked } from "./runtime";
import { eventRoutes } from "./tasks";

/** An event delivered again within this time makes nothing new. */
const eventKeyMs = 7 * 86_400_000;

/**
 * Queue `taskgate-ingest`: an event becomes tasks, once, however often it is delivered: the dedupe key is made of the
 * event's source and id, never of the message's. A message that can't be read, or that no route takes, throws: after its
 * tries it stands in the poison queue, with the reason in the log.
 */
export async function ingest(message: unknown): Promise<void> {
  const events = readEvents(message);
  if (!events.ok) {
    const reasons = events.problems.map(
      (problem) => `${problem.field}: expected ${problem.expected}, got ${problem.value}`,
    );
    throw new Error(`Not an event: ${reasons.join("; ")}`);
  }
  const requests = events.value.flatMap(toRequests);
  await tracked(async (runtime) => {
    await runtime.client.enqueue(requests);
  });
}

function toRequests(event: IngestEvent): EnqueueRequest[] {
  const routes = eventRoutes.filter((route) => route.matches(event));
  if (routes.length === 0) {
    throw new Error(
      `No route takes events of type \`${event.type}\` from \`${event.source}\`; add one in functions/tasks/index.ts`,
    );
  }
  const requests = routes.flatMap((route) => route.toTasks(event));
  return requests.map((request, index) => ({
    dedupeKey: eventKey(event, index),
    dedupeMs: eventKeyMs,
    ...request,
  }));
}

/** At most 200 characters: longer ones are cut in the middle of the source, never in the id. */
function eventKey(event: IngestEvent, index: number): string {
  const tail = `/${event.id}/${String(index)}`.slice(-150);
  return `event:${event.source.slice(0, 190 - tail.length)}${tail}`;
}
