// What all views draw with. Texts from tasks are only ever set as text, never as HTML.

/** The API counts up to here. */
const countMax = 10_000;
/** Cells of a bar; larger limits share them. */
const cellsMax = 40;
const noticeMs = 6_000;
const sureMs = 4_000;

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; texts and numbers become text nodes. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children.map((child) => (child instanceof window.Node ? child : String(child))));
  return made;
}

/** Writes a text only when it is new: text that is read aloud or selected isn't disturbed. */
export function setText(node, text) {
  if (node.textContent !== String(text)) node.textContent = String(text);
}

export function formatCount(count) {
  return count >= countMax ? `${countMax.toLocaleString("en")}+` : count.toLocaleString("en");
}

/** `250 ms`, `12 s`, `3 min`, `5 h`, `2 days`. */
export function formatDuration(ms) {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} days`;
}

/** Today's as a time, others with their day. */
export function formatInstant(instant) {
  const date = new Date(instant);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString() : date.toLocaleString();
}

/** A limit or `none`. */
export function formatLimit(limit) {
  return limit === null ? "none" : String(limit);
}

/** `2 of 4`; in a bar's place for who can't see it, too. */
export function describeHeld(held, limit) {
  return limit === null ? `${held}, no limit` : `${held} of ${limit}`;
}

/** A cell for each token, held ones first. */
export function drawBar(held, limit) {
  const count = Math.max(limit ?? held, held);
  const cells = Math.min(count, cellsMax);
  const full = held === 0 ? 0 : Math.max(1, Math.round((held / count) * cells));
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  for (let at = 0; at < cells; at += 1) {
    // Tokens above a lowered limit come back as their tasks end.
    const isOverLimit = limit !== null && at >= limit && at < full;
    bar.append(element("i", { class: isOverLimit ? "over-limit" : at < full ? "held" : "free" }));
  }
  return bar;
}

/** Bar and text of the tokens held of a limit. */
export function drawHeld(cell, held, limit) {
  cell.replaceChildren(
    drawBar(held, limit),
    element("span", { class: "held" }, describeHeld(held, limit)),
  );
}

export function drawBadge(text, mood = "") {
  return element("span", { class: `badge ${mood}` }, text);
}

/** The cells of a table's row; titles stand before them on narrow screens. */
export function makeCells(table, count) {
  const titles = [...table.tHead.rows[0].cells];
  return Array.from({ length: count }, (_, at) => {
    const title = titles[at];
    const attributes = { "data-label": title.textContent, class: title.className };
    return at === 0 ? element("th", { ...attributes, scope: "row" }) : element("td", attributes);
  });
}

/**
 * Keeps one line per item in a table or a list, by key: lines stay, so that a focused button or a selected text does.
 * `make(item)` answers `{ line, fill(item) }`. Without items it says so.
 */
export function keepLines(parent, { items, keyOf, make, none }) {
  const kept = (parent.keptLines ??= new Map());
  const keys = new Set(items.map(keyOf));
  for (const key of [...kept.keys()]) if (!keys.has(key)) kept.delete(key);
  const wanted = items.map((item) => {
    const key = keyOf(item);
    let row = kept.get(key);
    if (row === undefined) kept.set(key, (row = make(item)));
    row.fill(item);
    return row.line;
  });
  if (wanted.length === 0) wanted.push((parent.noneLine ??= makeNone(parent, none)));
  const isSame =
    wanted.length === parent.children.length &&
    wanted.every((line, at) => parent.children[at] === line);
  if (!isSame) parent.replaceChildren(...wanted);
}

function makeNone(parent, text) {
  if (parent.localName !== "tbody") return element("p", { class: "none" }, text);
  const columns = parent.parentElement.tHead.rows[0].cells.length;
  return element("tr", {}, element("td", { class: "none", colspan: columns }, text));
}

/** Behind a list that was cut: the number of its rows that are shown. */
export function drawCut(id, { shown, more }) {
  setText(byId(id), more ? `The first ${formatCount(shown)}; there are more.` : "");
}

/** A button that acts at once. */
export function makeButton(text, label, act) {
  const button = element("button", { type: "button", "aria-label": label }, text);
  button.addEventListener("click", act);
  return button;
}

/** A button that wants a second press within some seconds, for what can't be undone. */
export function makeSureButton(text, label, act) {
  let timer;
  const calm = () => {
    clearTimeout(timer);
    timer = undefined;
    button.textContent = text;
    button.setAttribute("aria-label", label);
    button.classList.remove("sure");
  };
  const button = makeButton(text, label, () => {
    if (timer !== undefined) {
      calm();
      act();
      return;
    }
    button.textContent = `really ${text}?`;
    button.setAttribute("aria-label", `really ${label}?`);
    button.classList.add("sure");
    timer = setTimeout(calm, sureMs);
  });
  return button;
}

let noticeTimer;

/** One sentence about the action just done. */
export function notify(text, mood = "") {
  const notice = byId("notice");
  notice.textContent = text;
  notice.className = mood;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => {
    notice.textContent = "";
  }, noticeMs);
}

/** Does it and says so, or why not. */
export async function act(doIt, sentence) {
  try {
    notify(sentence(await doIt()));
  } catch (error) {
    notify(`Nothing was changed: ${error.message}.`, "bad");
  }
}
