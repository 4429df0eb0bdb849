import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Browser, chromiumNote, hasChromium } from "../support/browser";
import type { Page } from "../support/browser";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { evil, makeScene } from "./dashboard-scene";
import { servePage } from "./page-server";
import type { PageServer } from "./page-server";

// Goal: every view of the status page in a real browser, over the real API and a database: what it shows, what its buttons
// do, that names are never taken for HTML, and that nothing is asked from elsewhere.
const testHere = hasChromium ? test : test.skip;
const pictures = process.env["TASKGATE_TEST_PICTURES"];

let api: ApiSetup;
let server: PageServer;
let browser: Browser;
beforeAll(async () => {
  if (!hasChromium) return;
  api = await setupApi();
  await makeScene(api);
  server = await servePage(api.admin);
  browser = new Browser();
}, 60_000);
afterAll(async () => {
  if (!hasChromium) return;
  await browser.close();
  await server.close();
  await api.close();
}, 30_000);

/** They go on asking until they are closed. */
const pages: Page[] = [];
afterEach(async () => {
  await Promise.all(pages.splice(0).map((page) => page.close()));
});

async function open(view: string, look: { width?: number; isDark?: boolean } = {}): Promise<Page> {
  const page = await browser.open(`${server.url}#${view}`, look);
  pages.push(page);
  return page;
}

/** By view: what must be on it. */
const views: Record<string, readonly string[]> = {
  overview: ["fetch", "2 of 4", "Dead letters", "no such row", evil],
  batches: [
    "import of May",
    "halted",
    "Of wave 1 a task is dead, and the batch's policy is halt",
    "import of June",
    "6 of 11 tasks have ended",
    "left, until",
    "4 of 4, done",
    "2 of 6, open",
    `${evil} draft`,
    "It hasn't been started",
  ],
  schedules: ["fetch / nightly", "0 2 * * MON-FRI", "Europe/Berlin", "never", `fetch / ${evil}`],
  limits: ["fetch", "2 of 4", "1 per 24 h, at most 1 at once", "partner-api", "fetch 2, push 1"],
  groups: ["customer-7", "1 of 1", evil],
  watermarks: [evil, '{"last":"4711"}'],
  tasks: ["Why isn't it running?", "State"],
};

describe("each view", () => {
  for (const [view, texts] of Object.entries(views)) {
    testHere(`${view} shows what there is, as text${chromiumNote}`, async () => {
      const page = await open(view);
      for (const text of texts) await page.shows(text);
      await page.until(`document.getElementById("connection").innerText.startsWith("live")`);
      expect(await page.evaluate("document.querySelectorAll('img').length")).toBe(0);
      expect(await page.evaluate("document.title")).toBe("Taskgate");
      expect(
        await page.evaluate("document.querySelector('nav [aria-current]').getAttribute('href')"),
      ).toBe(`#${view}`);
      expect(page.problems).toEqual([]);
    });

    testHere(`${view} fits a narrow screen${chromiumNote}`, async () => {
      const page = await open(view, { width: 400, isDark: true });
      for (const text of texts) await page.shows(text);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(400);
      expect(page.problems).toEqual([]);
    });
  }
});

describe("buttons", () => {
  testHere(
    `an app without the routes of operators has none, and shows limits only${chromiumNote}`,
    async () => {
      const readOnly = await servePage(api.admin, { operatorApi: false });
      try {
        for (const view of ["overview", "schedules", "groups", "batches"]) {
          const page = await browser.open(`${readOnly.url}#${view}`);
          await page.shows(views[view]?.[0] ?? "");
          await page.until(
            `document.body.classList.contains("read-only") && ![...document.querySelectorAll('main button[type="button"], main .limit input:not([readonly])')].some((part) => part.checkVisibility())`,
          );
          expect(page.problems).toEqual([]);
          await page.close();
        }
      } finally {
        await readOnly.close();
      }
    },
  );

  testHere(`a schedule is paused and resumed${chromiumNote}`, async () => {
    const page = await open("schedules");
    await page.click('[aria-label="pause schedule nightly of fetch"]');
    await page.shows("Schedule nightly of fetch is paused.");
    await page.shows("paused: nothing is made up for");
    const nightly = { definition: "fetch", schedule: "nightly" };
    expect(await api.admin.schedule(nightly)).toMatchObject({ paused: true });
    await page.click('[aria-label="resume schedule nightly of fetch"]');
    await page.shows("Schedule nightly of fetch is resumed.");
    expect(await api.admin.schedule(nightly)).toMatchObject({ paused: false });
  });

  testHere(`a group is paused and resumed, by keys alone${chromiumNote}`, async () => {
    const page = await open("groups");
    await page.shows("customer-7");
    const label = (): Promise<unknown> =>
      page.evaluate("document.activeElement.getAttribute('aria-label')");
    for (let presses = 0; presses < 40; presses += 1) {
      await page.press("Tab");
      if ((await label()) === "pause group customer-7 of fetch") break;
    }
    await page.press("Enter");
    await page.shows("Group customer-7 of fetch is paused.");
    const groups = await api.admin.groups({ name: "fetch", max: 5 });
    expect(groups).toMatchObject([
      { key: "customer-5", paused: false },
      { key: "customer-7", paused: true },
    ]);
    await page.click('[aria-label="resume group customer-7 of fetch"]');
    await page.shows("Group customer-7 of fetch is resumed.");
  });

  testHere(`a group's wait is explained by its own task${chromiumNote}`, async () => {
    const page = await open("groups");
    await page.click('[aria-label="why does group customer-7 of fetch wait?"]');
    await page.until(`document.querySelector("#why li.decides") !== null`);
    await page.shows("Group `customer-7` is full");
    expect(await page.evaluate("window.location.hash")).toMatch(/definition=fetch&state=waiting/);
    expect(page.problems).toEqual([]);
  });

  testHere(`the limits' why explains a task that the rate keeps back${chromiumNote}`, async () => {
    const page = await open("limits");
    await page.click(`[aria-label="why doesn't mail run more?"]`);
    await page.shows("is ready.");
    await page.shows("rate");
    expect(await page.evaluate("window.location.hash")).toMatch(
      /definition=mail&state=ready&task=/,
    );
  });

  testHere(`a task's number is explained, one that isn't there too${chromiumNote}`, async () => {
    const page = await open("tasks");
    await page.click("#why-task");
    for (const digit of "999999") await page.press(digit);
    await page.press("Enter");
    await page.shows("the id of a task that exists");
  });

  testHere(`a halted batch is resumed${chromiumNote}`, async () => {
    const page = await open("batches");
    const [, may] = await api.admin.batches({ max: 10 });
    await page.click(`[aria-label="resume batch ${String(may?.batch)}, import of May"]`);
    await page.shows(`Batch ${String(may?.batch)} goes on with its next wave.`);
    await page.shows("0 of 3, open");
  });

  testHere(`a batch is cancelled by a second press only${chromiumNote}`, async () => {
    const page = await open("batches");
    const [june] = await api.admin.batches({ max: 10 });
    const batch = String(june?.batch);
    await page.click(`[aria-label="cancel batch ${batch}, import of June"]`);
    await page.shows("really cancel?");
    expect(await api.admin.batches({ max: 1 })).toMatchObject([{ state: "running" }]);
    await page.click(`[aria-label="really cancel batch ${batch}, import of June?"]`);
    await page.shows(`Batch ${batch} is cancelled`);
    expect(await api.admin.batches({ max: 1 })).toMatchObject([{ state: "cancelled" }]);
  });

  testHere(`what is refused is said${chromiumNote}`, async () => {
    const page = await open("overview");
    await page.click('[aria-label="limit of push"]');
    await page.evaluate(`document.activeElement.select()`);
    for (const digit of "9999") await page.press(digit);
    await page.press("Enter");
    await page.shows("Nothing was changed: limit: expected");
  });
});

// Not a test: TASKGATE_TEST_PICTURES=FOLDER takes pictures of all views.
if (hasChromium && pictures !== undefined) {
  test.each([
    [1280, false],
    [1280, true],
    [400, false],
    [400, true],
  ])("pictures at %d, dark: %j", async (width, isDark) => {
    const why = { "tasks?definition=fetch&state=waiting&why": ["is waiting."] };
    for (const [view, texts] of Object.entries({ ...views, ...why })) {
      const page = await open(view, { width, isDark });
      for (const text of texts.slice(0, 1)) await page.shows(text);
      const name = view.includes("?") ? "why" : view;
      await page.picture(`${pictures}/${name}-${String(width)}-${isDark ? "dark" : "light"}.png`);
    }
    expect(width).toBeGreaterThan(0);
  });
}
