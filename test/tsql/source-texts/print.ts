import type { HeldLock } from "./lock-list";
import type { Played, SceneEvent } from "./play";

/** Paints a text on a terminal; elsewhere it leaves it alone. */
export interface Paint {
  readonly who: (text: string) => string;
  readonly wait: (text: string) => string;
  readonly fault: (text: string) => string;
  readonly quiet: (text: string) => string;
  readonly title: (text: string) => string;
}

const plainPaint: Paint = {
  who: (text) => text,
  wait: (text) => text,
  fault: (text) => text,
  quiet: (text) => text,
  title: (text) => text,
};

function ansi(code: number): (text: string) => string {
  return (text) => `\u001b[${String(code)}m${text}\u001b[0m`;
}

export function paintFor(isTerminal: boolean): Paint {
  if (!isTerminal) return plainPaint;
  return { who: ansi(36), wait: ansi(33), fault: ansi(31), quiet: ansi(90), title: ansi(1) };
}

/** A scene as text: what each one does, which locks that takes, and the list of locks where an actor waits. */
export function printPlayed(played: Played, paint: Paint): string[] {
  const lines: string[] = [];
  for (const event of played.events) {
    if (event.kind === "list") {
      if (event.locks.some(({ isWaiting }) => isWaiting))
        lines.push(...printLocks(event.locks, paint));
    } else {
      lines.push(...printEvent(event, paint));
    }
  }
  return lines;
}

function printEvent(event: Exclude<SceneEvent, { kind: "list" }>, paint: Paint): string[] {
  switch (event.kind) {
    case "act": {
      const note = event.note === undefined ? "" : paint.quiet(`  -- ${event.note}`);
      const [first = "", ...rest] = event.text.trim().split("\n");
      const more = rest.length === 0 ? [] : rest.map((line) => `    ${line.trimEnd()}`);
      return ["", `${paint.who(event.who)}: ${first}${note}`, ...more];
    }
    case "lock":
      return [printLock(event, paint)];
    case "deadlock":
      return [paint.fault(`  ${event.text}`)];
    case "answer":
      return printAnswer(event, paint);
  }
}

function printLock(event: Extract<SceneEvent, { kind: "lock" }>, paint: Paint): string {
  const behind = event.behind.length === 0 ? "" : ` behind ${event.behind.join(" and ")}`;
  const about = event.about === undefined ? "" : ` because of ${event.about}`;
  const verb = event.verb === "has" ? "now has" : event.verb;
  const line = `  ${event.who} ${verb} ${event.mode} ${event.resource}${about}${behind}`;
  const place = paint.quiet(` (${event.place})`);
  return `${event.verb === "waits for" ? paint.wait(line) : line}${place}`;
}

function printAnswer(event: Extract<SceneEvent, { kind: "answer" }>, paint: Paint): string[] {
  const rows = event.rows.map((row) =>
    Object.entries(row)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(", "),
  );
  const errors = event.errors.map((number) =>
    paint.fault(`  ${event.who} gets error ${String(number)}`),
  );
  return [...rows.map((row) => `  ${event.who} gets ${row}`), ...errors];
}

/** As the source text prints its locks. */
export function printLocks(locks: readonly HeldLock[], paint: Paint): string[] {
  const rows = locks.map(({ who, table, index, type, mode, isWaiting, count }) => [
    who,
    table,
    index === "" ? "NULL" : index,
    type,
    mode,
    String(count),
    isWaiting ? "waits" : "",
  ]);
  const table = [["who", "table", "index", "type", "mode", "count", ""], ...rows];
  const widths = (table[0] ?? []).map((_name, place) =>
    Math.max(...table.map((row) => (row[place] ?? "").length)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, place) => cell.padEnd(widths[place] ?? 0))
      .join("  ")
      .trimEnd();
  return table.map((row, place) => {
    const text = `  | ${line(row)}`;
    if (place === 0) return paint.quiet(text);
    return row.at(-1) === "waits" ? paint.wait(text) : text;
  });
}
