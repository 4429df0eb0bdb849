import { describe, expect, test } from "@jest/globals";
import { chromiumNote, hasChromium } from "../support/browser";
import type { Page } from "../support/browser";
import { enqueue, startWorker } from "../support/builders";
import { findBarriers } from "./axe-findings";
import type { ApiSetup } from "./api-setup";
import { useStage } from "./dashboard-stage";

// Goal: the dashboard finds tasks by a form whose fields stand in the address, says how far it looked, and goes on from there.
const testHere = hasChromium ? test : test.skip;
const name = "orders";
const many = 6_000;
const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
let ids: string[];

const stage = useStage({
  fill: async (api: ApiSetup) => {
    await api.register(name, { limit: 8, prefetchMax: 0 });
    const tasks = [1, 2, 3].map((id) => ({
      dedupeKey: `order-${String(id)}`,
      payload: JSON.stringify({ customer: { id } }),
      traceParent: `00-${trace}-00f067aa0ba902b7-01`,
    }));
    ids = await enqueue(api.store, name, tasks);
    const worker = await startWorker(api.store, name, { want: 1 });
    await worker.fail(await worker.claim(1), { as: "dead" });
    await worker.finish();
    await api.register("big");
    const numbers = Array.from({ length: many }, (_, n) => ({ payload: `{"n":${String(n)}}` }));
    await enqueue(api.store, "big", numbers);
  },
});

const shownTasks = (page: Page): Promise<unknown> =>
  page.evaluate(
    `[...document.querySelectorAll('main table tbody th a')].map((link) => link.textContent)`,
  );

/** Writes into a field of the form. */
const write = (page: Page, field: string, text: string): Promise<unknown> =>
  page.evaluate(`document.querySelector("#find-${field}").value = ${JSON.stringify(text)}; 1`);

describe("the form that finds tasks", () => {
  testHere(
    `the form that finds tasks writes what it asks for into the address, and shows the hits${chromiumNote}`,
    async () => {
      const page = await stage().open(`tasks?definition=${name}`);
      await page.shows("One definition's tasks");
      await page.click(".find > summary");
      await write(page, "keyPrefix", "order-");
      await page.click(".find button");
      await page.shows("Found 3, looked at 3 tasks: all of them.");
      expect(await page.evaluate("window.location.hash")).toBe(
        `#tasks?definition=${name}&state=any&keyPrefix=order-`,
      );
      expect(await shownTasks(page)).toEqual([ids[1], ids[2], ids[0]]);
      expect(await findBarriers(page)).toEqual([]);
      await write(page, "where", "customer.id=1");
      await page.click(".find button");
      await page.shows("Found 1, looked at 3 tasks: all of them.");
      expect(await shownTasks(page)).toEqual([ids[0]]);
      expect(page.problems).toEqual([]);
    },
  );

  testHere.each([
    [`tasks?definition=${name}`, "find-key"],
    ["audit", "audit-actor"],
    ["groups", "groups-key"],
  ])(
    `the form that finds tasks keeps the text of one field while another is filled: %s${chromiumNote}`,
    async (place, field) => {
      const page = await stage().open(place);
      // The first look writes what the address says.
      await page.until(`document.getElementById("page").getAttribute("aria-busy") === "false"`);
      await page.evaluate(`{
        window.answers = 0;
        const real = window.fetch;
        window.fetch = (...request) => real(...request).finally(() => (window.answers += 1));
        document.getElementById("${field}").value = "mine";
      } 1`);
      // The page looks again, with the focus elsewhere.
      await page.until("window.answers > 4");
      expect(await page.evaluate(`document.getElementById("${field}").value`)).toBe("mine");
    },
  );

  testHere(
    `the form that finds tasks is open and filled where an address asks for something${chromiumNote}`,
    async () => {
      const page = await stage().open(`tasks?definition=${name}&state=dead&where=customer.id%3D1`);
      await page.shows("Found 1, looked at 1 task: all of them.");
      expect(await page.evaluate(`document.querySelector(".find").open`)).toBe(true);
      expect(await page.evaluate(`document.querySelector("#find-where").value`)).toBe(
        "customer.id=1",
      );
      expect(await shownTasks(page)).toEqual([ids[0]]);
    },
  );

  testHere(
    `the form that finds tasks teaches where nothing is found, and tells what the API refuses${chromiumNote}`,
    async () => {
      const page = await stage().open(`tasks?definition=${name}&key=none`);
      await page.shows("No such task was found.");
      await page.shows("Keys, groups and values are compared whole");
      const wrong = await stage().open(`tasks?definition=${name}&where=customer.id`);
      await wrong.shows("The API refused: where: expected PATH=VALUE such as customer.id=42");
    },
  );

  testHere(
    `the form that finds tasks says where it stopped, and goes on from there${chromiumNote}`,
    async () => {
      const page = await stage().open(`tasks?definition=big&where=n%3D${String(many - 1)}`);
      await page.shows("Found 0, looked at 5,000 tasks, and stopped in ready behind task");
      await page.click('[aria-label="look at the next tasks"]');
      await page.shows("Found 1, looked at 6,000 tasks: all of them.");
      expect(await shownTasks(page)).toHaveLength(1);
      expect(page.problems).toEqual([]);
    },
  );
});

testHere(
  `a task's page shows the id of its trace, linked to the trace, with a button that copies it${chromiumNote}`,
  async () => {
    for (const id of [ids[0], ids[1]]) {
      const page = await stage().open(`tasks/${String(id)}`);
      await page.shows(trace);
      const isThere = `document.querySelector('[aria-label="copy the trace\\'s id"]') !== null`;
      expect(await page.evaluate(isThere)).toBe(true);
      expect(await page.evaluate(`document.querySelector("dd a").href`)).toBe(
        `https://traces.example/of/${trace}`,
      );
      expect(await findBarriers(page)).toEqual([]);
    }
  },
);
