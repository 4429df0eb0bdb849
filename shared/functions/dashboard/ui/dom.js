// Elements, and lists that are patched. Texts from tasks are only ever set as text, never as HTML.

import { formatCount } from "./format.js";

export const byId = (id) => document.getElementById(id);

const textAttributes = new Set(["aria-label", "title"]);

/** An element with attributes and children; texts and numbers become text nodes, null is left out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes))
    made.setAttribute(attribute, textAttributes.has(attribute) ? visible(value) : value);
  made.append(...children.filter((child) => child !== null).map(toShown));
  return made;
}

/** A node, or a text as readers may see it. */
export const toShown = (child) => (child instanceof window.Node ? child : visible(child));

/** A text whose signs without a shape are told by their numbers: they could hide in a name, or turn a sentence around. */
function visible(text) {
  return String(text).replaceAll(
    /[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|[^\P{Cc}\t\n\r]/gu,
    (sign) => `[U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );
}

/** Writes a text only when it is new: text that is read aloud or selected isn't disturbed. */
export function setText(node, text) {
  const shown = visible(text);
  if (node.textContent !== shown) node.textContent = shown;
}

/** Draws into a node only when what it is drawn from is new. */
export function redraw(node, from, draw) {
  const key = JSON.stringify(from);
  if (node.drawnFrom === key) return;
  node.drawnFrom = key;
  node.replaceChildren(...draw().map(toShown));
}

let lastTitle = 0;

/** A part of a page with its heading. */
export function section(title, ...children) {
  lastTitle += 1;
  const id = `title-${lastTitle}`;
  const heading = element("h2", { id }, title);
  return element("section", { class: "sheet", "aria-labelledby": id }, heading, ...children);
}

/** In place of an empty list: a sentence, and the texts and nodes of a hint at how it fills. */
export function makeEmpty(sentence, ...hint) {
  const more = hint.length === 0 ? null : element("p", {}, ...hint);
  return element("div", { class: "empty" }, element("p", {}, sentence), more);
}

/** A word in a coloured box. */
export function badge(text, mood = "") {
  return element("span", { class: `badge ${mood}` }, text);
}

/** A part of a bar, as wide as its share, 0..1. Set through the object model: the page's policy forbids styles in attributes. */
export function barPart(kind, share) {
  const part = element("i", { class: kind });
  part.style.width = `${100 * share}%`;
  return part;
}

/** A button that acts at once. */
export function button(text, label, act, className = "") {
  const made = element("button", { type: "button", "aria-label": label, class: className }, text);
  made.addEventListener("click", act);
  return made;
}

/** Shows one of two buttons; the focus goes from the one to the other. */
export function showOne(isFirst, first, second) {
  const hadFocus = document.activeElement === (isFirst ? second : first);
  first.hidden = !isFirst;
  second.hidden = isFirst;
  if (hadFocus) (isFirst ? first : second).focus({ preventScroll: true });
}

/**
 * `fill(values)` writes form fields by name, once for each address. Then they are the reader's: one may be changed
 * already while the next is in use. Answers whether it wrote.
 */
export function makeFiller(fields) {
  let filled = null;
  return (values) => {
    const wanted = Object.keys(fields).map((name) => values[name] ?? "");
    const asked = JSON.stringify(wanted);
    if (filled === asked) return false;
    filled = asked;
    for (const [at, field] of Object.values(fields).entries()) field.value = wanted[at];
    return true;
  };
}

/** Counts with their names, `[name, count, href, mood]` each; without `href` one leads nowhere. */
export function fillTiles(list, tiles) {
  redraw(list, tiles, () =>
    tiles.map(([name, count, href, mood = ""]) => {
      const parts = [element("b", {}, formatCount(count)), element("span", {}, name)];
      const inside = href === undefined ? parts : [element("a", { href }, ...parts)];
      return element("li", { class: count > 0 ? mood : "zero" }, ...inside);
    }),
  );
}

/** Does the reader have text of it selected, or the focus in it? Such a line stays where it is. */
function isInUse(line) {
  return line.contains(document.activeElement) || isSelected(line);
}

function isSelected(line) {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(line, true);
}

/**
 * Keeps one line per item in a table or a list, by key. Lines stay: a focused button keeps the focus when others move around
 * it, and selected text isn't written over. `make(item)` answers `{ line, fill(item) }`; `none()` makes the line of an empty list.
 */
export function keepLines(parent, { items, keyOf, make, none }) {
  const kept = (parent.keptLines ??= new Map());
  const keys = new Set(items.map(keyOf));
  for (const key of [...kept.keys()]) if (!keys.has(key)) kept.delete(key);
  const wanted = items.map((item) => {
    const key = keyOf(item);
    let row = kept.get(key);
    if (row === undefined) kept.set(key, (row = make(item)));
    if (!isSelected(row.line)) row.fill(item);
    return row.line;
  });
  if (wanted.length === 0) wanted.push((parent.noneLine ??= none()));
  arrange(parent, wanted);
}

/** Puts the lines in order; one that is in use isn't moved, the others go around it. */
function arrange(parent, wanted) {
  const isWanted = new Set(wanted);
  for (const line of [...parent.children]) if (!isWanted.has(line)) line.remove();
  const fixed = wanted.findIndex((line) => line.parentNode === parent && isInUse(line));
  let next = fixed === -1 ? null : wanted[fixed];
  for (let at = (fixed === -1 ? wanted.length : fixed) - 1; at >= 0; at -= 1) {
    const line = wanted[at];
    if (line.parentNode !== parent || line.nextSibling !== next) parent.insertBefore(line, next);
    next = line;
  }
  for (let at = fixed + 1; fixed !== -1 && at < wanted.length; at += 1) {
    if (wanted[at - 1].nextSibling !== wanted[at]) wanted[at - 1].after(wanted[at]);
  }
}

/**
 * A table whose rows are kept by key. `columns` are `[title, class, write?]`; on narrow screens each row is a card, with the titles
 * before its cells. `write(item)` answers the text of a cell, or the text and its title. `row(item, cells)` fills the other cells; for those
 * that change it answers `fill(item)`. `none` are the sentence and the hint of an empty table. `fill(items, more)` draws, and says where
 * the list was cut.
 */
export function makeTable({ label, columns, keyOf, row, none, className = "" }) {
  const head = element(
    "tr",
    {},
    ...columns.map(([title, kind]) => element("th", { scope: "col", class: kind }, title)),
  );
  const body = element("tbody");
  const table = element(
    "table",
    { class: `stack ${className}`, "aria-label": label },
    element("thead", {}, head),
    body,
  );
  const cut = element("p", { class: "cut" });
  const make = (item) => {
    const cells = columns.map(([title, kind], at) =>
      at === 0
        ? element("th", { scope: "row", class: kind })
        : element("td", { "data-label": title, class: kind }),
    );
    const line = element("tr", {}, ...cells);
    const written = columns.flatMap(([, , write], at) => (write ? [[cells[at], write]] : []));
    const others = cells.filter((_, at) => columns[at][2] === undefined);
    const fillOthers = row?.(item, others, line);
    const fill = (next) => {
      for (const [cell, write] of written) writeCell(cell, write(next));
      fillOthers?.(next);
    };
    return { line, fill };
  };
  const makeNone = () => {
    const attributes = { class: "none", colspan: columns.length };
    return element("tr", {}, element("td", attributes, makeEmpty(...none)));
  };
  const fill = (items, more = false) => {
    keepLines(body, { items, keyOf, make, none: makeNone });
    table.classList.toggle("bare", items.length === 0);
    setText(cut, describeCut(items.length, more));
  };
  return { node: element("div", {}, table, cut), fill };
}

function writeCell(cell, said) {
  const [text, title] = [said].flat();
  setText(cell, text);
  if (title !== undefined) cell.title = title;
}

/** `Showing 50; there are more.` */
export function describeCut(shown, more) {
  if (more === false) return "";
  const total = typeof more === "number" ? ` of ${more.toLocaleString("en")}` : "; there are more";
  return `Showing ${shown.toLocaleString("en")}${total}.`;
}
