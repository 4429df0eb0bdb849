import type { AnyTaskKind } from "../worker/define/task-kind";

/*
 * The gates of this process. `taskgate work` loads an app and runs the gate that the app has made. The list hangs on the
 * process, and the kinds hang on the gate: the app and the command line may load two copies of this file.
 */
const key = Symbol.for("taskgate.gates");
const kindsKey = Symbol.for("taskgate.kinds");

/** Adds a gate that the app has made; `kinds` is called at most once, after the app was loaded. */
export function noteGate(gate: object, kinds: () => readonly AnyTaskKind[]): void {
  Object.defineProperty(gate, kindsKey, { value: kinds });
  (Reflect.get(globalThis, key) as object[] | undefined)?.push(gate);
}

/** The kinds of tasks that a gate runs, without those that settings add. */
export function kindsOf(gate: object): readonly AnyTaskKind[] {
  const kinds = Reflect.get(gate, kindsKey) as (() => readonly AnyTaskKind[]) | undefined;
  return kinds?.() ?? [];
}

/** Begins to keep the gates that are made from now on; answers the list that they are added to. */
export function keepGates(): readonly object[] {
  const gates: object[] = [];
  Reflect.set(globalThis, key, gates);
  return gates;
}
