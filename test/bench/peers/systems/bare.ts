import type { Setup } from "../../peers-launcher/protocol.ts";
import type { Handle, QueueSystem } from "../system.ts";

/** No queue: as many loops over all processes as the limit allows tasks. What they reach is the ideal. */
export async function openSystem({ limit, processes, index }: Setup): Promise<QueueSystem> {
  const loops = Math.floor(limit / processes) + (index < limit % processes ? 1 : 0);
  let ends = false;
  const payload = { n: 0, group: "", sentAt: "0", text: "" };
  const loop = async (handle: Handle): Promise<void> => {
    while (!ends) await handle(payload);
  };
  return {
    settings: "loops without a queue",
    prepare: async () => undefined,
    enqueueBulk: async () => undefined,
    enqueueOne: async () => undefined,
    work: async (handle) => {
      for (let n = 0; n < loops; n += 1) void loop(handle);
    },
    unfinished: async () => 0,
    close: async () => {
      ends = true;
    },
  };
}
