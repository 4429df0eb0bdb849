import { Session } from "node:inspector/promises";
import type { CpuProfile } from "../peers-launcher/protocol.ts";

const intervalUs = 500;
const session = new Session();

/** Begins to take samples of this process's stack. */
export async function startProfile(): Promise<void> {
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: intervalUs });
  await session.post("Profiler.start");
}

/** Ends it. */
export async function endProfile(): Promise<CpuProfile> {
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  const { nodes, samples = [], timeDeltas = [] } = profile;
  return { nodes, samples, timeDeltas };
}
