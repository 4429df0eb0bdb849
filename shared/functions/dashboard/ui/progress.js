// How far something is, as a bar of parts: done, dead, open, blocked, cancelled. Each part has a pattern, not only a colour.

import { barPart, element, redraw } from "./dom.js";
import { formatCount } from "./format.js";

/**
 * Parts are `[kind, count]`; the kinds are `done`, `dead`, `open`, `blocked` and `cancelled`. For those who can't see it the bar is its
 * label and the counts.
 */
export function fillProgress(bar, label, parts) {
  const shown = parts.filter(([, count]) => count > 0);
  const total = shown.reduce((sum, [, count]) => sum + count, 0);
  const counts = shown.map(([kind, count]) => `${formatCount(count)} ${kind}`).join(", ");
  bar.setAttribute("aria-label", `${label}: ${counts || "no tasks"}`);
  redraw(bar, shown, () => shown.map(([kind, count]) => barPart(kind, count / total)));
}

export const makeProgress = () => element("div", { class: "progress", role: "img" });
