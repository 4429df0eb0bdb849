import type { Scene } from "../scene";
import { claimScenes } from "./claims";

/** All that run on several stores. */
export const scenes: readonly Scene[] = [...claimScenes];
