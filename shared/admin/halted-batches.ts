import type { BatchStatus } from "../ports/task-store";

/** The newest batches, among which halted ones are looked for: one read. */
export const batchesLookedAt = 100;
/** Halted batches that are told of. */
const toldMax = 20;

/** A batch that goes on only when an operator says so. */
export interface HaltedBatch {
  readonly batch: string;
  /** The state, and a way out. */
  readonly text: string;
}

/** The halted ones of the newest batches, newest first. */
export function findHalted(
  batches: readonly Pick<BatchStatus, "batch" | "name" | "state">[],
): HaltedBatch[] {
  return batches
    .filter(({ state }) => state === "halted")
    .slice(0, toldMax)
    .map(({ batch, name }) => ({
      batch,
      text: `${name} halted after a dead task. \`taskgate failures --batch ${batch}\` names the definitions of the dead ones, \`taskgate redrive NAME --all --batch ${batch}\` runs them again in their wave, \`taskgate batch ${batch} --resume\` goes on with the next wave.`,
    }));
}
