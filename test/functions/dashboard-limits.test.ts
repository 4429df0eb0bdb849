import { expect, test } from "@jest/globals";
import { chromiumNote, hasChromium } from "../support/browser";
import type { Page } from "../support/browser";
import { useStage } from "./dashboard-stage";
import { calls, makeLimitScene } from "./limit-scene";

// Goal: the pages show the limit that a definition shares where it has none of its own, and functions under a limit in words.
const testHere = hasChromium ? test : test.skip;
const stage = useStage({ fill: makeLimitScene });

/** The words beside the cells of a row, and the classes of its cells. */
function tokensOf(page: Page, name: string): Promise<unknown> {
  return page.evaluate(`(() => {
    const link = [...document.querySelectorAll("tr a")].find((each) => each.textContent === ${JSON.stringify(name)});
    const cell = link.closest("tr").querySelector(".slots-cell");
    return [cell.querySelector(".held.shared, span.held").textContent, ...[...cell.querySelectorAll(".slots li, .cells i")].map((each) => each.className)];
  })()`);
}

testHere(
  `the overview shows the narrowest shared limit of a definition without an own one, and the tokens of others${chromiumNote}`,
  async () => {
    const page = await stage().open("overview");
    await page.shows("1 of 4 of partner-api, 3 by all");
    expect(await tokensOf(page, "notify")).toEqual([
      ...["1 of 4 of partner-api, 3 by all", "held", "others", "others", "free"],
    ]);
    expect(await tokensOf(page, "functions under partner-api")).toEqual([
      ...["2 of 4 of partner-api, 3 by all", "held", "held", "others", "free"],
    ]);
    const links = await page.evaluate(
      `[...document.querySelectorAll("tr .count a")].map((each) => each.getAttribute("aria-label"))`,
    );
    expect(links).toContain("1 ready of notify");
    expect(String(links)).not.toContain(calls);
    expect(await page.text()).not.toContain(calls);
    expect(page.problems).toEqual([]);
  },
);

testHere(
  `the page of functions under a limit is named in words, and tells their name in commands instead of counts${chromiumNote}`,
  async () => {
    const page = await stage().open(`definitions/${calls}`);
    await page.shows("2 of 4 of partner-api, 3 by all");
    await page.shows("Such a call is no task");
    const title = await page.evaluate(`document.querySelector("h1").textContent`);
    expect(title).toBe("functions under partner-api");
    expect(await page.evaluate(`document.querySelectorAll(".tiles").length`)).toBe(0);
    expect(await page.text()).not.toMatch(/Nothing runs|\d attempts|time left/);
    expect(await page.evaluate(`document.querySelector("code").textContent`)).toBe(calls);
  },
);

testHere(
  `the page of a definition tells the shared limit beside its own, which is none${chromiumNote}`,
  async () => {
    const page = await stage().open("definitions/notify");
    await page.shows(
      "There is no limit of its own, as in code. 1 token is held. The shared limit partner-api holds it at 4: 3 held by all.",
    );
  },
);

testHere(
  `the pages of limits and executions and the search name functions in the same words${chromiumNote}`,
  async () => {
    const page = await stage().open("limits");
    await page.shows("functions under partner-api 2, notify 1, resize 0");
    await page.shows("2 of 4 of partner-api, 3 by all");
    const executions = await stage().open("executions");
    await executions.shows("functions under partner-api");
    const search = await stage().open("search?q=partner");
    await search.shows("functions under partner-api");
  },
);
