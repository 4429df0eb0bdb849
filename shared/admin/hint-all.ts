import type { WakeUp } from "../ports/wake-up";

/** One hint for each definition that got work. */
export async function hintAll(wakeUp: WakeUp, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => wakeUp.hint(name)));
}
