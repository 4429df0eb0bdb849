import { engines as plainEngines } from "../../tsql-server/engine/options";
import type { EngineName, EngineOptions } from "../../tsql-server/engine/options";

const strict: Pick<EngineOptions, "strictSchemas"> = { strictSchemas: ["Taskgate"] };

/** The three engines, with Taskgate's modules under test: each access must follow from its text. */
export const engines: Readonly<Record<EngineName, EngineOptions>> = {
  locking: { ...plainEngines.locking, ...strict },
  versioned: { ...plainEngines.versioned, ...strict },
  azure: { ...plainEngines.azure, ...strict },
};
