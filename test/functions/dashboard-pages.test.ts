import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "@jest/globals";
import { chromiumNote, hasChromium } from "../support/browser";
import type { Page } from "../support/browser";
import { sleep } from "../../shared/platform/real-clock";
import { enqueue } from "../support/builders";
import { fewOf } from "../support/whole";
import { findBarriers } from "./axe-findings";
import { useStage } from "./dashboard-stage";
import { makeIncident } from "./dashboard-incident";
import type { Incident } from "./dashboard-incident";

// Goal: every page of the dashboard over one night with an incident, wide and narrow, light and dark: no serious finding of
// axe-core, nothing that has to be scrolled sideways, no error, no request to elsewhere. TASKGATE_TEST_PICTURES=FOLDER keeps
// a picture of each; with docs/images, of those that the guide shows.
const testHere = hasChromium ? test : test.skip;
const pictures = process.env["TASKGATE_TEST_PICTURES"];
const guide = readFileSync("docs/operate/dashboard.md", "utf8");

const results = {
  tables: [
    {
      title: "Airports with the longest delays",
      columns: [
        { title: "airport", isNumber: false },
        { title: "flights", isNumber: true },
        { title: "mean delay, min", isNumber: true, hasBars: true },
      ],
      rows: [
        ["ORD", 212, 18.5],
        ["SFO", 98, 11.2],
        ["DAL", 120, -2.5],
      ],
    },
  ],
};

let incident: Incident;
const stage = useStage({
  fill: async (api) => {
    incident = await makeIncident(api);
  },
  serve: {
    extra: [
      {
        method: "GET",
        route: "results",
        handler: () => Promise.resolve({ jsonBody: results }),
      },
    ],
  },
  fillMs: 120_000,
});

/** By the name of its picture: the place, and what must be there before it is looked at. */
const places: Record<string, () => readonly [place: string, text: string]> = {
  overview: () => ["overview", "19 dead"],
  "task-dead": () => [`tasks/${incident.dead}`, "duplicate key value"],
  "task-ready": () => [`tasks/${incident.ready}`, "is reached"],
  "task-running": () => [`tasks/${incident.running}`, "it is running"],
  tasks: () => ["tasks?definition=send-invoice&state=dead", "has no country"],
  definition: () => ["definitions/import-orders", "tokens ran tasks that ended well for"],
  failures: () => ["failures", "Redrive 17"],
  batches: () => ["batches", "flights of June"],
  batch: () => [`batches/${incident.batch}`, "2 dead"],
  schedules: () => ["schedules", "Europe/Berlin"],
  limits: () => ["limits", "partner-api"],
  groups: () => ["groups", "customer-G"],
  watermarks: () => ["watermarks", "No blocks have been made"],
  executions: () => ["executions", "worker-3"],
  audit: () => ["audit?object=import-orders", "the partner is slow today"],
  results: () => ["results", "ORD"],
  search: () => ["search?q=partner", "sync-partner"],
};

interface Look {
  readonly width: number;
  readonly isDark: boolean;
}

async function check(page: Page, { width, isDark }: Look): Promise<void> {
  // Narrow and dark has the layout of narrow and light, and the colours of wide and dark.
  if (width > 960 || !isDark) expect(await findBarriers(page)).toEqual([]);
  await checkWidth(page, width);
  expect(page.problems).toEqual([]);
  const elsewhere = await page.evaluate(
    `performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => !name.startsWith(location.origin))`,
  );
  expect(elsewhere).toEqual([]);
}

/** Nothing has to be scrolled sideways, and fingers meet what they aim at. */
async function checkWidth(page: Page, width: number): Promise<void> {
  const isTooWide = `document.documentElement.scrollWidth > ${String(width)}`;
  const tooFarRight = await page.evaluate(
    `!(${isTooWide}) ? [] : [...document.querySelectorAll("body *")].filter((part) => part.getBoundingClientRect().right > ${String(width)}).map(({ outerHTML }) => outerHTML.slice(0, 80))`,
  );
  expect(tooFarRight).toEqual([]);
  const tooLow = await page.evaluate(
    `${String(width)} > 960 ? [] : [...document.querySelectorAll("button")].filter((part) => part.checkVisibility() && part.getBoundingClientRect().height < 44).map(({ outerHTML }) => outerHTML)`,
  );
  expect(tooLow).toEqual([]);
}

/** To another place by the address's end, as a link goes; waits for its first look. */
async function go(page: Page, place: string): Promise<void> {
  await page.evaluate(`(() => {
    window.hasArrived = false;
    window.addEventListener("hashchange", () => { window.hasArrived = true; }, { once: true });
    window.location.hash = ${JSON.stringify(`#${place}`)};
  })()`);
  await page.until("window.hasArrived");
  await page.until(`document.querySelector('#page[aria-busy="false"]') !== null`);
}

const looks: readonly Look[] = [
  { width: 1440, isDark: true },
  { width: 360, isDark: false },
  { width: 1440, isDark: false },
  { width: 360, isDark: true },
];

describe.each(fewOf(looks, 2))("at $width, dark: $isDark", (look) => {
  describePages(look);
});

function describePages({ width, isDark }: Look): void {
  let visited: Page | null = null;
  afterAll(() => visited?.close());
  /** Each place as a page of its own once; then one page goes from place to place, as people do. */
  const visit = async (place: string): Promise<Page> => {
    if (width > 960 && !isDark) return stage().open(place, { width, isDark });
    visited ??= await stage().browser.open(`${stage().server.url}#audit`, { width, isDark });
    await go(visited, place);
    return visited;
  };
  const suffix = `${String(width)}-${isDark ? "dark" : "light"}`;
  const take = async (page: Page, name: string, isWhole = true): Promise<void> => {
    const file = `${name}-${suffix}.png`;
    if (pictures === undefined) return;
    const isForGuide = pictures === "docs/images";
    if (isForGuide && !guide.includes(file)) return;
    // The guide shows a phone as one holds it, not its page as a long strip.
    await page.picture(`${pictures}/${file}`, { isWhole: isWhole && !(isForGuide && width < 960) });
  };

  for (const [name, place] of Object.entries(places)) {
    testHere(
      `${name} can be read by all${chromiumNote}`,
      async () => {
        const [address, text] = place();
        const page = await visit(address);
        await page.shows(text);
        // Further looks add what is asked less often.
        await page.until(`document.getElementById("connection").className === "good"`);
        if (name === "overview") await page.until(`document.querySelector(".plot.small") !== null`);
        // The line of what the page has seen begins with the third look.
        if (name === "definition" && width > 960) {
          for (let looks = 0; looks < 3; looks += 1) {
            await sleep(1_100);
            await enqueue(stage().api.store, "import-orders", 2 + 3 * looks);
          }
          await page.until(`document.querySelector(".trend") !== null`);
          await page.until(`document.querySelectorAll(".series .plot").length === 4`);
        }
        await check(page, { width, isDark });
        await take(page, name);
      },
      60_000,
    );
  }

  testHere(
    `the dialog and the banner of a stop can be read by all${chromiumNote}`,
    async () => {
      const page = await stage().open("overview", { width, isDark });
      await page.click("#stop");
      await page.shows("Stop everything?");
      await check(page, { width, isDark });
      await take(page, "stop-dialog", false);
      await page.evaluate(`document.querySelector("#reason").value = "the database is moved"; 1`);
      await page.click("dialog button.danger");
      await page.shows("Everything is stopped");
      await page.shows("Reason: the database is moved.");
      await check(page, { width, isDark });
      await take(page, "stopped");
      await page.click('[aria-label="resume what was stopped"]');
      await page.click("dialog button.primary");
      await page.shows("Resumed: ");
      await page.until(`document.getElementById("stopped").hidden`);
    },
    60_000,
  );
}

describe("at widths between", () => {
  for (const width of [980, 1100]) {
    testHere(
      `no page is wider than ${String(width)} pixels${chromiumNote}`,
      async () => {
        const page = await stage().open("audit", { width });
        for (const place of Object.values(places)) {
          const [address, text] = place();
          await go(page, address);
          await page.shows(text);
          await checkWidth(page, width);
        }
      },
      60_000,
    );
  }
});
