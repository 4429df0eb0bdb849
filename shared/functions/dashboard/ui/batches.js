// Batches, and one of them with its waves as a picture of how far they are.

import { call, inPath, slowly } from "./api.js";
import { makeBatch } from "./batch-card.js";
import { describeCut, element, keepLines, makeEmpty, section, setText } from "./dom.js";

const batchesMax = 20;
/** So many of the newest are looked through for those that aren't over. */
const batchesAsked = 50;
const pausedEveryMs = 5_000;
/** Batches that need attention, running ones, ended ones. */
const places = ["halted", "running", "draft"];

/** Names of paused definitions: why a batch may stand still. */
const askPaused = slowly(pausedEveryMs, async () => {
  const { definitions } = await call("definitions");
  return definitions.filter(({ paused }) => paused).map(({ name }) => name);
});

export const batches = {
  title: () => "Batches",
  make(main) {
    const about = element(
      "p",
      { class: "about" },
      "A wave opens when the last task of the one before has ended. First what is halted, what runs and what hasn't been started; then the newest.",
    );
    const list = element("div", { class: "cards" });
    const cut = element("p", { class: "cut" });
    main.append(about, list, cut);
    return async () => {
      const [{ batches: found, more }, paused] = await Promise.all([
        call(`batches?max=${batchesAsked}`),
        askPaused(),
      ]);
      const place = ({ state }) => (places.includes(state) ? places.indexOf(state) : places.length);
      const items = found
        .toSorted((left, right) => place(left) - place(right))
        .slice(0, batchesMax)
        .map((report) => ({ ...report, paused }));
      setText(cut, describeCut(items.length, more || found.length > items.length));
      keepLines(list, {
        items,
        keyOf: ({ batch }) => batch,
        make: (report) => makeBatch(report, { wavesMax: 12 }),
        none: () =>
          makeEmpty(
            "There is no batch.",
            "A batch is work in stages, called waves: all of one stage ends before the next begins. Code makes one with ",
            element("code", {}, "createBatch"),
            ".",
          ),
      });
    };
  },
};

export const batch = {
  title: (id) => `Batch ${id}`,
  make(main, { id }) {
    const list = element("div", { class: "cards" });
    main.append(
      list,
      section(
        "All batches",
        element("p", {}, element("a", { href: "#batches" }, "Back to the list")),
      ),
    );
    return async () => {
      const [report, paused] = await Promise.all([call(`batches/${inPath(id)}`), askPaused()]);
      keepLines(list, {
        items: [{ ...report, paused }],
        keyOf: (each) => each.batch,
        make: (each) => makeBatch(each, { wavesMax: 200 }),
        none: () => makeEmpty("There is no such batch."),
      });
    };
  },
};
