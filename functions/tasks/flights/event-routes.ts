import type { JsonObject } from "../../../shared/core/json";
import type { EventRoute } from "../../ingest-event";
import { importAirports } from "./import-airports";
import { importFlights } from "./import-flights";

/** A file that landed is imported by the kind that its name tells. */
export const flightRoutes: readonly EventRoute[] = [
  {
    matches: (event) => isLanded(event) && /\.json$/i.test(event.subject),
    toTasks: (event) => [{ task: importFlights, payload: toFile(event) }],
  },
  {
    matches: (event) => isLanded(event) && /\.csv$/i.test(event.subject),
    toTasks: (event) => [{ task: importAirports, payload: toFile(event) }],
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

/** What the event says goes through the payload's schema: a bad event is a dead letter with its problems. */
function toFile(event: LandedEvent): JsonObject {
  const { path = null, sha256 = null } = event.data;
  return { eventId: event.id, name: event.subject, path, sha256 };
}
