/*
 * The gates of this process. `taskgate work` loads an app and runs the gate that the app has made. The list hangs on the
 * process, because the app may load another copy of this file than the command line does.
 */
const key = Symbol.for("taskgate.gates");

/** Adds a gate that the app has made. */
export function noteGate(gate: object): void {
  (Reflect.get(globalThis, key) as object[] | undefined)?.push(gate);
}

/** Begins to keep the gates that are made from now on; answers the list that they are added to. */
export function keepGates(): readonly object[] {
  const gates: object[] = [];
  Reflect.set(globalThis, key, gates);
  return gates;
}
