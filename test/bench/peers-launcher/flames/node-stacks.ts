import type { CpuProfile, ProfileNode } from "../protocol";
import type { Frame, Stack } from "./stacks";

/** V8's names for time in which no code ran, and for the root. */
const unseen = new Set(["(root)", "(idle)"]);
/** What begins the profile is a part of it. */
const own = "startProfile";

/** The stacks of a CPU profile, by the time between its samples, microseconds. Idle time is left out. */
export function nodeStacks({ nodes, samples, timeDeltas }: CpuProfile): Stack[] {
  const weights = new Map<number, number>();
  for (const [index, id] of samples.entries())
    weights.set(id, (weights.get(id) ?? 0) + Math.max(0, timeDeltas[index] ?? 0));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  return [...weights].flatMap(([id, weight]) => {
    const frames = framesTo(id, byId, parents);
    const isTold = weight > 0 && frames.length > 0 && frames.every(({ name }) => name !== own);
    return isTold ? [{ frames, weight }] : [];
  });
}

function framesTo(
  id: number,
  byId: ReadonlyMap<number, ProfileNode>,
  parents: ReadonlyMap<number, number>,
): Frame[] {
  const frames: Frame[] = [];
  for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
    const node = byId.get(at);
    if (node !== undefined && !unseen.has(node.callFrame.functionName)) frames.push(frameOf(node));
  }
  return frames.toReversed();
}

function frameOf({ callFrame: { functionName, url } }: ProfileNode): Frame {
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (url === "") return { name, origin: name.startsWith("(") ? "V8" : "native" };
  return { name, origin: originOf(url) };
}

/** The package that a file belongs to. */
function originOf(url: string): string {
  if (url.startsWith("node:")) return "Node";
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? "benchmark";
}
