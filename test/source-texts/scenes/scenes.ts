import type { Scene } from "../scene";
import { claimScenes } from "./claims";
import { drainScenes } from "./drains";
import { tokenScenes } from "./tokens";
import { trialScenes } from "./trials";
import { workerScenes } from "./workers";

/** All that run on several stores. */
export const scenes: readonly Scene[] = [
  ...claimScenes,
  ...drainScenes,
  ...workerScenes,
  ...trialScenes,
  ...tokenScenes,
];
