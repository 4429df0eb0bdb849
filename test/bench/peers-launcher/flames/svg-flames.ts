import { escaped } from "../../../support/svg-text";
import { percent, weightBy, weightOf } from "./stacks";
import type { Stack } from "./stacks";

const width = 1200;
const rowHeight = 17;
const top = 46;
/** Narrower calls are left out: nobody could read or hit them. */
const leastShare = 0.002;
const letterWidth = 6.6;
const mostOrigins = 6;
/** By origin, so that all pictures have the same; readable under dark text on white and on black. */
const colours: Readonly<Record<string, string>> = {
  postgres: "#f4a261",
  plpgsql: "#e5989b",
  kernel: "#8ecae6",
  libc: "#95d5b2",
  taskgate: "#f4a261",
  Node: "#95d5b2",
  native: "#8ecae6",
  V8: "#cdb4db",
  pg: "#e9c46a",
  "pg-protocol": "#e9c46a",
};
const otherColour = "#ced4da";

interface Call {
  readonly name: string;
  readonly origin: string;
  weight: number;
  readonly inner: Map<string, Call>;
}

/** A flame graph: each call stands on its caller and is as wide as its part of the processor time; a title tells both. */
export function svgFlames(title: string, stacks: readonly Stack[]): string {
  const all = weightOf(stacks);
  const root = treeOf(stacks);
  const origins = weightBy(stacks, ({ origin }) => origin);
  const depth = depthOf(root, all * leastShare);
  const height = top + depth * rowHeight + 4;
  const calls: string[] = [];
  draw(root, { x: 0, row: 0 });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    "<style>text{font:11px ui-monospace,monospace;fill:#1a1a1a}.head{font:600 13px system-ui,sans-serif;fill:#444}.key{fill:#444}@media(prefers-color-scheme:dark){.head,.key{fill:#ccc}}</style>",
    `<text class="head" x="4" y="16">${escaped(title)}</text>`,
    ...legend(origins, all),
    ...calls,
    "</svg>",
    "",
  ].join("\n");

  function draw(call: Call, at: { readonly x: number; readonly row: number }): void {
    let { x } = at;
    for (const inner of [...call.inner.values()].toSorted((a, b) =>
      a.name.localeCompare(b.name, "en"),
    )) {
      const share = inner.weight / all;
      if (share >= leastShare) {
        calls.push(box(inner, { x, y: height - 4 - (at.row + 1) * rowHeight, share }));
        draw(inner, { x, row: at.row + 1 });
      }
      x += share * width;
    }
  }
}

function treeOf(stacks: readonly Stack[]): Call {
  const root: Call = { name: "", origin: "", weight: 0, inner: new Map() };
  for (const { frames, weight } of stacks) {
    let call = root;
    for (const { name, origin } of frames) {
      // A function that calls itself, as PL/pgSQL's interpreter does, stands once.
      if (name === call.name && origin === call.origin) continue;
      const key = `${origin} ${name}`;
      const inner = call.inner.get(key) ?? { name, origin, weight: 0, inner: new Map() };
      call.inner.set(key, inner);
      inner.weight += weight;
      call = inner;
    }
  }
  return root;
}

function depthOf(call: Call, least: number): number {
  const shown = [...call.inner.values()].filter(({ weight }) => weight >= least);
  return Math.max(0, ...shown.map((inner) => 1 + depthOf(inner, least)));
}

function box(
  { name, origin }: Call,
  { x, y, share }: { readonly x: number; readonly y: number; readonly share: number },
): string {
  const wide = share * width;
  const letters = Math.floor((wide - 4) / letterWidth);
  const told = letters < 3 ? "" : name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
  const text = told === "" ? "" : `<text x="${fixed(x + 3)}" y="${y + 12}">${escaped(told)}</text>`;
  return `<g><title>${escaped(`${name} (${origin}): ${percent(share)}`)}</title><rect x="${fixed(x)}" y="${y}" width="${fixed(Math.max(0.3, wide - 0.5))}" height="${rowHeight - 1}" fill="${colourOf(origin)}"/>${text}</g>`;
}

/** Whose code the time was spent in, by the innermost calls. */
function legend(origins: readonly (readonly [string, number])[], all: number): string[] {
  let x = 4;
  return origins.slice(0, mostOrigins).flatMap(([origin, weight]) => {
    const told = `${origin} ${percent(weight / all)}`;
    const parts = [
      `<rect x="${fixed(x)}" y="24" width="11" height="11" fill="${colourOf(origin)}"/>`,
      `<text class="key" x="${fixed(x + 15)}" y="34">${escaped(told)}</text>`,
    ];
    x += 15 + told.length * letterWidth + 18;
    return parts;
  });
}

function colourOf(origin: string): string {
  return colours[origin] ?? otherColour;
}

function fixed(value: number): string {
  return String(Number(value.toFixed(1)));
}
