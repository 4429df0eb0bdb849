import type { NameKind } from "./names";
import type { Side } from "./side";

/** Where answers carry ids: a property's name tells of what. */
const idProperties: Readonly<Record<string, NameKind>> = {
  taskDefinitionId: "definition",
  executionId: "execution",
  execution: "execution",
  taskId: "task",
  taskIds: "task",
  task: "task",
  lastTask: "task",
  refused: "task",
  cancel: "task",
  fence: "fence",
  batch: "batch",
  batchId: "batch",
  opening: "batch",
  wave: "wave",
  waveIds: "wave",
  id: "schedule",
};

/** Users' own data: what looks like an id in there is none; of schedules' tasks it tells the instant. */
const opaqueProperties = new Set(["payload", "result", "checkpoint"]);

const instantShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const instantsShape = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const uuidShape = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Turns what one store says into what every store should say: names for ids, milliseconds since the start for instants. */
export class Normalizer {
  readonly #side: Side;

  constructor(side: Side) {
    this.#side = side;
  }

  answer<Answer>(answer: Answer): Answer {
    return this.#value(answer, "") as Answer;
  }

  /** UUIDs are written in capitals on SQL Server: they are the same. Instants are each store's own. */
  message(text: string): string {
    return text
      .replaceAll(uuidShape, (uuid) => uuid.toLowerCase())
      .replaceAll(instantsShape, (instant) => this.#text(instant));
  }

  #value(value: unknown, property: string): unknown {
    if (opaqueProperties.has(property)) {
      return value === null ? null : (JSON.parse(this.message(JSON.stringify(value))) as unknown);
    }
    if (Array.isArray(value)) return value.map((entry) => this.#value(entry, property));
    if (value instanceof Date) return this.#instant(value);
    if (typeof value === "object" && value !== null) return this.#object(value, property);
    if (typeof value !== "string" && typeof value !== "number") return value;
    // A list of tasks is told as ids or as objects, how many they are as a number.
    const isTask = property === "tasks" && typeof value === "string";
    const kind = isTask ? "task" : idProperties[property];
    if (kind !== undefined) return this.#side.names.nameOf(kind, String(value));
    return typeof value === "string" ? this.#text(value) : value;
  }

  #object(value: object, property: string): Record<string, unknown> {
    const entries = Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      // The holders of a group's slots: a list of tasks there, of executions elsewhere.
      .map(([key, inner]) => {
        const isGroupsHolders = property === "group" && key === "holders";
        return [key, this.#value(inner, isGroupsHolders ? "task" : key)] as const;
      });
    return Object.fromEntries(entries);
  }

  #text(text: string): string {
    if (!instantShape.test(text)) return text;
    return this.#instant(new Date(text));
  }

  #instant(at: Date): string {
    return `start + ${String(at.getTime() - this.#side.startMs)} ms`;
  }
}
