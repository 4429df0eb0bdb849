import type { EngineName } from "../../tsql-server/engine/options";
import { countsOf } from "./lock-list";
import type { HeldLock } from "./lock-list";
import { play } from "./play";
import type { Played } from "./play";
import { stories } from "./stories";

/* What tests ask of a scene that was played. */

export function playScene(story: string, place: number, engine: EngineName): Played {
  const scene = stories.find(({ name }) => name === story)?.scenes[place];
  if (scene === undefined) throw new Error(`${story} has no scene ${String(place)}`);
  return play(scene, engine);
}

/** Who waited, for which lock on which key. */
export function waitsIn({ events }: Played): string[] {
  return events.flatMap((event) =>
    event.kind === "lock" && event.verb === "waits for"
      ? [`${event.who}: ${event.mode} ${event.about ?? event.resource}`]
      : [],
  );
}

/** An actor's answer: the number of an error, or rows; nothing for a COMMIT. */
export function answersIn({ events }: Played, who: string): unknown[] {
  return events.flatMap((event): unknown[] => {
    if (event.kind !== "answer" || event.who !== who) return [];
    if (event.errors.length > 0) return [...event.errors];
    return event.rows.length > 0 ? [event.rows] : [];
  });
}

/** The lists of locks, one after each act. */
export function listsIn({ events }: Played): (readonly HeldLock[])[] {
  return events.flatMap((event) => (event.kind === "list" ? [event.locks] : []));
}

/** Locks that change something after an act, as the source text counts them. */
export function lockCounts(played: Played, act: number, who: string): Record<string, number> {
  return countsOf(listsIn(played)[act] ?? [], who);
}
