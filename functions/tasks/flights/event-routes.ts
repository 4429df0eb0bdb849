import { taskRequest } from "taskgate";
import type { EventRoute, JsonObject, JsonValue } from "taskgate";
import { importAirports } from "./import-airports";
import { importFlights } from "./import-flights";
import type { LandedFile } from "./schemas";

/** A file that landed is imported by the kind that its name tells. */
export const flightRoutes: readonly EventRoute[] = [
  {
    matches: (event) => isLanded(event) && /\.json$/i.test(event.subject),
    toTasks: (event) => [taskRequest(importFlights, toFile(event))],
  },
  {
    matches: (event) => isLanded(event) && /\.csv$/i.test(event.subject),
    toTasks: (event) => [taskRequest(importAirports, toFile(event))],
  },
];

interface LandedEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly data: JsonObject;
}

function isLanded(event: LandedEvent): boolean {
  return event.type === "file-landed" && event.source === "landing";
}

/** What the event says goes through the payload's schema: a bad event is refused with its problems. */
function toFile(event: LandedEvent): LandedFile {
  const { path, sha256 } = event.data;
  return { eventId: event.id, name: event.subject, path: textOf(path), sha256: textOf(sha256) };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
