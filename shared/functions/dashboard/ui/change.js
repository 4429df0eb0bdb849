// Changing something: a dialog that says what will happen and asks for the reason, then a notice of what did.

import { AnswerLost, ChangedMeanwhile, noteChange } from "./api.js";
import { byId, element, setText, toShown } from "./dom.js";
import { makeLine } from "./fields.js";

const noticeMs = 8_000;

let noticeTimer;

/** About the action just done: a sentence, or its texts and nodes. */
function notify(said, mood = "") {
  const notice = byId("notice");
  notice.replaceChildren(...[said].flat().map(toShown));
  notice.className = mood;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => notice.replaceChildren(), noticeMs);
}

/** The notice that holds `node` stays on for a while: something in it has moved on. */
export function keepNotice(node) {
  if (!byId("notice").contains(node)) return;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => byId("notice").replaceChildren(), noticeMs);
}

/** Does it and says so, or why not. */
async function act(doIt, sentence) {
  try {
    const said = sentence(await doIt());
    await noteChange();
    notify(said);
  } catch (error) {
    notify(describeFailure(error), "bad");
    if (error instanceof ChangedMeanwhile || error instanceof AnswerLost) await noteChange();
  }
}

function describeFailure(error) {
  if (error instanceof ChangedMeanwhile) return `It was not done: ${error.message}.`;
  if (error instanceof AnswerLost)
    return `It may have been done: ${error.message}. Look before you do it again.`;
  return `Nothing was changed: ${error.message}.`;
}

/**
 * Asks for a second press and a reason, then does it. `body` are the sentences and fields of the dialog, `verb` the button
 * that acts; `doIt(reason)` is told the reason as `{ reason }`, or `{}`; `sentence(answer)` is shown. `canAct`, where it is
 * given, is waited for before the button can be pressed: it may fill the body with a preview, and false leaves it shut. What
 * the audit keeps without a reason asks for none.
 */
export async function change({ doIt, sentence, ...dialog }) {
  const reason = await ask(dialog);
  if (reason === null) return;
  await act(() => doIt(reason), sentence);
}

function ask({ title, body, verb, isDanger = false, canAct, asksReason = true }) {
  const reason = element("input", { id: "reason", maxlength: "400", autocomplete: "off" });
  const sure = element("button", { class: isDanger ? "danger" : "primary" }, verb);
  const back = element("button", { type: "button" }, "Keep it as it is");
  const form = element(
    "form",
    {},
    element("h2", { id: "dialog-title" }, title),
    ...body.map((part) => (typeof part === "string" ? element("p", {}, part) : part)),
    asksReason ? makeLine("Reason, for the audit", reason) : null,
    element("div", { class: "buttons" }, sure, back),
  );
  const dialog = element("dialog", { "aria-labelledby": "dialog-title" }, form);
  document.body.append(dialog);
  if (canAct !== undefined) {
    sure.disabled = true;
    void canAct().then((can) => (sure.disabled = !can));
  }
  return new Promise((resolve) => {
    let answer = null;
    back.addEventListener("click", () => dialog.close());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = reason.value.trim();
      answer = text === "" ? {} : { reason: text };
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    dialog.showModal();
    if (form.querySelector("input") === reason) reason.focus();
  });
}

/**
 * A sentence of a dialog about what will become of the change, and the `canAct` that waits for it. `ask()` answers the sentence,
 * and whether there is anything to do; `failed` begins the sentence where it can't tell.
 */
export function makePreview({ start, failed, ask }) {
  const node = element("p", { class: "preview", role: "status" }, start);
  const canAct = async () => {
    try {
      const [sentence, can] = await ask();
      setText(node, sentence);
      return can;
    } catch (problem) {
      setText(node, `${failed}: ${problem.message}.`);
      return false;
    }
  };
  return { node, canAct };
}
