import { escaped } from "../support/svg-text";

/** A line of a plot: its points by x; a null makes a gap. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number | null])[];
}

export interface Plot {
  readonly title: string;
  readonly xUnit: string;
  readonly yUnit: string;
  readonly series: readonly Series[];
}

const size = { width: 760, height: 300, left: 70, right: 16, top: 34, bottom: 62 } as const;
/** Readable on white and on black. */
const colours = ["#3b82f6", "#e8590c", "#2f9e44", "#ae3ec9", "#c2a300", "#868e96"] as const;
const ticks = 5;

/** A picture of lines, y from 0 on, that is readable on light and dark pages. */
export function svgPlot({ title, xUnit, yUnit, series }: Plot): string {
  const points = series.flatMap((each) => each.points);
  const xMax = roundUp(Math.max(1e-9, ...points.map(([x]) => x)));
  const yMax = roundUp(Math.max(1e-9, ...points.map(([, y]) => y ?? 0)));
  const place = {
    x: (x: number): number => size.left + (x / xMax) * (size.width - size.left - size.right),
    y: (y: number): number =>
      size.height - size.bottom - (y / yMax) * (size.height - size.top - size.bottom),
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(size.width)} ${String(size.height)}" role="img" aria-label="${escaped(title)}">`,
    "<style>text{font:12px system-ui,sans-serif;fill:#444}.axis{stroke:#8884;stroke-width:1}.title{font-weight:600}@media(prefers-color-scheme:dark){text{fill:#ccc}}</style>",
    `<text class="title" x="${String(size.left)}" y="18">${escaped(title)}</text>`,
    ...axes({ xMax, yMax, xUnit, yUnit }, place),
    ...series.map((each, index) => line(each, colourOf(index), place)),
    ...legend(series),
    "</svg>",
    "",
  ].join("\n");
}

interface Place {
  x(x: number): number;
  y(y: number): number;
}

function axes(
  { xMax, yMax, xUnit, yUnit }: { xMax: number; yMax: number; xUnit: string; yUnit: string },
  place: Place,
): string[] {
  const right = size.width - size.right;
  const bottom = size.height - size.bottom;
  const lines: string[] = [];
  for (let tick = 0; tick <= ticks; tick += 1) {
    const y = (yMax * tick) / ticks;
    const x = (xMax * tick) / ticks;
    lines.push(
      `<line class="axis" x1="${String(size.left)}" x2="${String(right)}" y1="${fixed(place.y(y))}" y2="${fixed(place.y(y))}"/>`,
      `<text x="${String(size.left - 6)}" y="${fixed(place.y(y) + 4)}" text-anchor="end">${short(y)}</text>`,
      `<text x="${fixed(place.x(x))}" y="${String(bottom + 16)}" text-anchor="middle">${short(x)}</text>`,
    );
  }
  lines.push(
    `<text x="${String(right)}" y="${String(bottom + 32)}" text-anchor="end">${escaped(xUnit)}</text>`,
    `<text x="${String(right)}" y="18" text-anchor="end">${escaped(yUnit)}</text>`,
  );
  return lines;
}

function line({ points }: Series, colour: string, place: Place): string {
  let path = "";
  let isDrawing = false;
  for (const [x, y] of points) {
    if (y !== null) path += `${isDrawing ? "L" : "M"}${fixed(place.x(x))} ${fixed(place.y(y))}`;
    isDrawing = y !== null;
  }
  return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>`;
}

function legend(series: readonly Series[]): string[] {
  const step = (size.width - size.left - size.right) / Math.max(1, series.length);
  return series.flatMap(({ name }, index) => {
    const x = size.left + index * step;
    const y = size.height - 12;
    return [
      `<rect x="${fixed(x)}" y="${String(y - 9)}" width="14" height="4" fill="${colourOf(index)}"/>`,
      `<text x="${fixed(x + 20)}" y="${String(y - 3)}">${escaped(name)}</text>`,
    ];
  });
}

function colourOf(index: number): string {
  return colours[index % colours.length] ?? colours[0];
}

/** To one figure and a half, so that the axis ends at a round number. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.ceil((value / power) * 2) * (power / 2);
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function fixed(value: number): string {
  return String(Number(value.toFixed(1)));
}
