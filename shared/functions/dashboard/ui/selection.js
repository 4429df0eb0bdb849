// Ticked lines of a list, and a bar with what can be done with all of them. Ticks outlive further looks, as long as their line is shown.

import { button, element, setText } from "./dom.js";
import { counted } from "./format.js";

/**
 * `noun` names a line; `actions` are `{ text, label, act(items), className }`. `box(item)` makes the tick of a
 * line, `fill(items)` tells the shown ones; items have `key` and `name`. `clear()` takes all ticks away.
 */
export function makeSelection({ noun, actions }) {
  const ticked = new Map();
  const boxes = new Map();
  let shown = [];
  const all = element("input", { type: "checkbox", id: "select-all" });
  const count = element("span", { role: "status" });
  const acts = actions.map(({ text, label, act, className }) =>
    button(text, label, () => act([...ticked.values()]), className),
  );
  const node = element(
    "p",
    { class: "selection changes" },
    element("label", { for: "select-all" }, all, "All shown"),
    count,
    element("span", { class: "buttons" }, ...acts),
  );
  const draw = () => {
    for (const act of acts) act.disabled = ticked.size === 0;
    setText(count, ticked.size === 0 ? "none selected" : `${counted(ticked.size, noun)} selected`);
    all.checked = shown.length > 0 && ticked.size === shown.length;
    all.indeterminate = ticked.size > 0 && !all.checked;
    for (const [key, box] of boxes) box.checked = ticked.has(key);
  };
  const tick = (item, isOn) => {
    if (isOn) ticked.set(item.key, item);
    else ticked.delete(item.key);
  };
  all.addEventListener("change", () => {
    const isOn = all.checked;
    for (const item of shown) tick(item, isOn);
    draw();
  });
  const box = (item) => {
    const made = element("input", {
      type: "checkbox",
      class: "changes",
      "aria-label": `select ${item.name}`,
    });
    made.addEventListener("change", () => {
      tick(item, made.checked);
      draw();
    });
    boxes.set(item.key, made);
    return made;
  };
  const fill = (items) => {
    shown = items;
    const keys = new Set(items.map(({ key }) => key));
    for (const known of [ticked, boxes])
      for (const key of [...known.keys()]) if (!keys.has(key)) known.delete(key);
    for (const item of items) if (ticked.has(item.key)) ticked.set(item.key, item);
    node.hidden = items.length === 0;
    draw();
  };
  const clear = () => {
    ticked.clear();
    draw();
  };
  fill([]);
  return { node, box, fill, clear };
}
