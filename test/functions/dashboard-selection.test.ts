import { describe, expect, test } from "@jest/globals";
import { chromiumNote, hasChromium } from "../support/browser";
import type { Page } from "../support/browser";
import { sleep } from "../../shared/platform/real-clock";
import { enqueue, startWorker } from "../support/builders";
import type { ApiSetup } from "./api-setup";
import { findBarriers } from "./axe-findings";
import { useStage } from "./dashboard-stage";
import { servePage } from "./page-server";

// Goal: several tasks or groups are ticked by mouse or keys, stay ticked while the page looks again, and are changed together
// after a preview that is true; what isn't ticked stays as it is.
const testHere = hasChromium ? test : test.skip;

const stage = useStage({ fill: () => Promise.resolve() });

/** Dead tasks of a definition, one for each error. */
async function die(api: ApiSetup, name: string, errors: readonly string[]): Promise<string[]> {
  await api.register(name, { limit: 20 });
  const ids = await enqueue(api.store, name, errors.length);
  const worker = await startWorker(api.store, name, { want: 20 });
  for (const [at, task] of (await worker.claim(errors.length)).entries())
    await worker.fail([task], { as: "dead", error: errors[at] ?? "" });
  await worker.finish();
  return ids;
}

const tick = (page: Page, label: string): Promise<unknown> =>
  page.click(`[aria-label="select ${label}"]`);

/** The task stands in the list. */
const lists = (page: Page, id: string | undefined): Promise<void> =>
  page.until(
    `document.querySelector('[aria-label="select task ${String(id)}"]')?.checkVisibility()`,
  );

const ticked = (page: Page): Promise<unknown> =>
  page.evaluate(
    `[...document.querySelectorAll('main input[aria-label^="select "]:checked')].map((box) => box.getAttribute("aria-label"))`,
  );

/** A browser drops keys until the page has been painted: they are pressed until the tick is there. */
async function tickByKey(page: Page, id: string): Promise<void> {
  const box = `document.querySelector('[aria-label="select task ${id}"]')`;
  for (let presses = 0; presses < 20; presses += 1) {
    await page.evaluate(`${box}.focus(); 1`);
    await page.press(" ");
    if ((await page.evaluate(`${box}.checked`)) === true) return;
    await sleep(100);
  }
  throw new Error(`The key doesn't tick task ${id}`);
}

async function confirm(page: Page): Promise<void> {
  await page.until(`document.querySelector("dialog .buttons button")?.disabled === false`);
  await page.click("dialog .buttons button");
  await page.until(`document.querySelector("dialog") === null`);
}

describe("a selection", () => {
  testHere(
    `a selection of dead tasks is made by keys, stays, and is redriven${chromiumNote}`,
    async () => {
      const { api } = stage();
      const [first = "", second = "", third = ""] = await die(api, "keys", ["a", "b", "c"]);
      const page = await stage().open("tasks?definition=keys&state=dead");
      await lists(page, third);
      for (const id of [first, third]) await tickByKey(page, id);
      await page.shows("2 tasks selected");
      await sleep(2_300);
      expect(await ticked(page)).toEqual([third, first].map((id) => `select task ${id}`));
      await page.click('[aria-label="redrive the selected tasks"]');
      await page.shows("Of 2: 2 will run again.");
      expect(await findBarriers(page)).toEqual([]);
      const { tasks: before } = await api.admin.tasks({
        definition: "keys",
        states: ["dead"],
        max: 9,
      });
      expect(before).toHaveLength(3);
      await confirm(page);
      await page.shows("2 redriven.");
      await page.shows("none selected");
      const { tasks: left } = await api.admin.tasks({
        definition: "keys",
        states: ["dead"],
        max: 9,
      });
      expect(left.map(({ task }) => task)).toEqual([second]);
      expect(page.problems).toEqual([]);
    },
  );

  testHere(
    `a selection of all shown tasks is rescheduled, then cancelled${chromiumNote}`,
    async () => {
      const { api } = stage();
      await api.register("all", { limit: 0 });
      const ids = await enqueue(api.store, "all", 3);
      const page = await stage().open("tasks?definition=all&state=ready");
      await lists(page, ids[2]);
      await page.click("#select-all");
      await page.shows("3 tasks selected");
      await tick(page, `task ${String(ids[0])}`);
      await page.shows("2 tasks selected");
      await page.click('[aria-label="reschedule the selected tasks"]');
      await page.shows("Of 2: 2 will get the new time.");
      await confirm(page);
      await page.shows("2 rescheduled.");
      await page.evaluate(`location.hash = "#tasks?definition=all&state=scheduled"; 1`);
      await page.until(`document.querySelector('table[aria-label="Tasks, scheduled"]') !== null`);
      await lists(page, ids[1]);
      await page.click("#select-all");
      await page.click('[aria-label="cancel the selected tasks"]');
      await page.shows("Of 2: 2 will end now.");
      // Another operator was faster with one of them.
      await api.store.cancelTasks({ taskIds: [String(ids[1]) as never], changedBy: "other" });
      await confirm(page);
      await page.shows("1 cancelled. Not changed: 1 cancelled.");
      const { tasks: ready } = await api.admin.tasks({
        definition: "all",
        states: ["ready"],
        max: 9,
      });
      expect(ready.map(({ task }) => task)).toEqual(ids.slice(0, 1));
      expect(page.problems).toEqual([]);
    },
  );

  testHere(
    `a selection of groups of failures is redriven after one count${chromiumNote}`,
    async () => {
      const { api } = stage();
      await die(api, "groups", ["no row 1", "no row 2", "too slow", "left alone"]);
      const page = await stage().open("failures?definition=groups");
      await page.shows("left alone");
      await tick(page, "2 of groups, groups: no row 2");
      await tick(page, "1 of groups, groups: too slow");
      await page.shows("2 groups selected");
      expect(await findBarriers(page)).toEqual([]);
      await sleep(3_300);
      expect(await ticked(page)).toHaveLength(2);
      await page.click('[aria-label="redrive the selected groups"]');
      await page.shows("3 dead tasks of 2 groups will run again");
      await confirm(page);
      await page.shows("3 redriven.");
      const { tasks: left } = await api.admin.tasks({
        definition: "groups",
        states: ["dead"],
        max: 9,
      });
      expect(left.map(({ error }) => error)).toEqual(["left alone"]);
      expect(page.problems).toEqual([]);
    },
  );

  testHere(`a selection can't be made by a caller who may only read${chromiumNote}`, async () => {
    const { api } = stage();
    const [id = ""] = await die(api, "reader", ["it broke"]);
    const server = await servePage(api.admin, { operatorApi: false });
    try {
      const page = await stage().browser.open(`${server.url}#tasks?definition=reader&state=dead`);
      stage().closeLater(page);
      await page.shows(id);
      await page.shows("read only");
      await page.until(
        `![...document.querySelectorAll('main input[type="checkbox"]')].some((box) => box.checkVisibility())`,
      );
    } finally {
      await server.close();
    }
  });
});
