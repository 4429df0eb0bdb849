// Sentences of the API, such as those of an explanation: names in backticks, instants and numbers of tasks are drawn as such.

import { element } from "./dom.js";
import { formatInstant } from "./format.js";
import { placeOf } from "./place.js";

const parts =
  /`([^`]+)`|(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)|\b((?:[Tt]ask|, task) (\d+))\b/g;

/** The nodes and texts of a sentence; `own` is the task whose page it stands on. */
export function drawSentence(sentence, own) {
  const drawn = [];
  let end = 0;
  for (const match of sentence.matchAll(parts)) {
    drawn.push(sentence.slice(end, match.index), drawPart(match, own));
    end = match.index + match[0].length;
  }
  return [...drawn, sentence.slice(end)];
}

function drawPart([, code, instant, task, id], own) {
  if (code !== undefined) return element("code", {}, code);
  if (instant !== undefined) {
    return element("time", { datetime: instant, title: instant }, formatInstant(instant));
  }
  return id === own ? task : element("a", { href: placeOf.task(id) }, task);
}
