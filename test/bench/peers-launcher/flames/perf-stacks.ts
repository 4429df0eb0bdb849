import type { Frame, Stack } from "./stacks";

/** Calls that every process of the server has, and that tell nothing. */
const common = new Set([
  "_start",
  "__libc_start_main",
  "__libc_start_call_main",
  "main",
  "PostmasterMain",
  "ServerLoop",
  "postmaster_child_launch",
  "BackendMain",
]);
/** Of the kernel's calls, so many of the outermost are shown. */
const kernelDepth = 4;

/** The stacks in the output of `perf script -F ip,sym,dso`: blocks of lines, innermost first, with an empty line between. */
export function perfStacks(output: string): Stack[] {
  const found = new Map<string, { frames: Frame[]; weight: number }>();
  for (const block of output.split(/\n\s*\n/)) {
    const frames = framesOf(block);
    if (frames.length === 0) continue;
    const key = frames.map(({ name }) => name).join(";");
    const same = found.get(key);
    if (same === undefined) found.set(key, { frames, weight: 1 });
    else same.weight += 1;
  }
  return [...found.values()];
}

function framesOf(block: string): Frame[] {
  const all = block
    .split("\n")
    .flatMap((line) => frameOf(line) ?? [])
    .toReversed()
    .filter(({ name }) => !common.has(name));
  const inKernel = all.findIndex(({ origin }) => origin === "kernel");
  return inKernel === -1 ? all : all.slice(0, inKernel + kernelDepth);
}

/** `55d0c2a1b2c3 heap_insert (/usr/bin/postgres)`. Frames without a name are those that couldn't be unwound. */
function frameOf(line: string): Frame | null {
  const found = /^\s*[0-9a-f]+ (.+) \((.+)\)$/.exec(line);
  if (found === null) return null;
  const [, symbol = "", file = ""] = found;
  const name = symbol
    .replace(/\+0x[0-9a-f]+$/, "")
    .replace(/@.*|\.(?:constprop|isra|part)\..*/, "");
  return name === "[unknown]" ? null : { name, origin: originOf(file) };
}

function originOf(file: string): string {
  if (file.startsWith("[")) return "kernel";
  const name = file.split("/").at(-1) ?? file;
  return name.replace(/[-.]so.*$|\.so$|-[0-9.]+\.so$/, "");
}
