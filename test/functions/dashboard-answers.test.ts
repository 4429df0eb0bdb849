import { describe, expect, test } from "@jest/globals";
import { chromiumNote, hasChromium } from "../support/browser";
import type { Page } from "../support/browser";
import { enqueue } from "../support/builders";
import { useStage } from "./dashboard-stage";

// Goal: the page says of a change whose answer it doesn't get that it may have been made, a repeat of the browser's own makes
// nothing twice, and a page that was shown stays while nothing answers.
const testHere = hasChromium ? test : test.skip;

let task = "";
const stage = useStage({
  fill: async ({ register, store }) => {
    await register("reports", { limit: 3 });
    await register("calls:partner", { limit: null });
    [task = ""] = await enqueue(store, "reports", 1);
    const hourly = {
      name: "hourly",
      kind: "report",
      cron: "0 * * * *",
      timeZone: "UTC",
      ...{ missed: "once" as const, payload: "{}", group: null },
      nextRunAt: new Date("2099-01-01T00:00:00Z"),
    };
    await store.setSchedules({ name: "reports", build: 7, changedBy: "code", schedules: [hourly] });
  },
});

/** From now on requests of the page that change something go through `instead`, a function of the real `fetch` and its arguments. */
const meddle = (page: Page, instead: string): Promise<unknown> =>
  page.evaluate(`{
    const real = window.fetch;
    const instead = ${instead};
    window.fetch = (path, init = {}) =>
      (init.method ?? "GET") === "GET" ? real(path, init) : instead(real, path, init);
  } 1`);

const away = `window.fetch = () => Promise.reject(new TypeError("Failed to fetch")); 1`;

async function confirm(page: Page): Promise<void> {
  await page.until(`document.querySelector("dialog .buttons button")?.disabled === false`);
  await page.click("dialog .buttons button");
  await page.until(`document.querySelector("dialog") === null`);
}

describe("a change whose answer is lost", () => {
  testHere(
    `a change whose answer is lost is told as one that may have been made${chromiumNote}`,
    async () => {
      const page = await stage().open("definitions/reports");
      await page.shows("Pause");
      await meddle(
        page,
        "async (...[real, ...request]) => { await real(...request); throw new TypeError('lost'); }",
      );
      await page.click('[aria-label="pause reports"]');
      await confirm(page);
      await page.shows(
        "It may have been done: the app doesn't answer. Look before you do it again.",
      );
      // It was, and the page shows that at once.
      await page.until(`document.querySelector('[aria-label="resume reports"]') !== null`);
      expect(await stage().api.admin.definitions("reports")).toMatchObject([{ paused: true }]);
    },
  );

  testHere(
    `a change whose answer is lost is told so when a proxy before the app answers${chromiumNote}`,
    async () => {
      const page = await stage().open("definitions/reports");
      await meddle(page, "async () => new Response('<h1>Bad Gateway</h1>', { status: 502 })");
      await page.click('[aria-label="resume reports"]');
      await confirm(page);
      await page.shows("It may have been done: the answer was 502, without words.");
      expect(await stage().api.admin.definitions("reports")).toMatchObject([{ paused: true }]);
    },
  );

  testHere(
    `a change whose answer is lost adds one task for one press, however often the browser asks${chromiumNote}`,
    async () => {
      const { api } = stage();
      const page = await stage().open("schedules");
      await page.shows("hourly");
      await meddle(
        page,
        "async (...[real, ...request]) => { await real(...request); return real(...request); }",
      );
      const waiting = async (): Promise<unknown> =>
        (await api.admin.definitions("reports"))[0]?.ready;
      expect(await waiting()).toBe(1);
      await page.click('[aria-label^="run now"]');
      await confirm(page);
      await page.shows("of schedule hourly of reports");
      expect(await waiting()).toBe(2);
      // Another press is another run.
      await page.click('[aria-label^="run now"]');
      await confirm(page);
      await page.until(`document.querySelector("dialog") === null`);
      for (let looks = 0; looks < 100 && (await waiting()) !== 3; looks += 1)
        await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await waiting()).toBe(3);
    },
  );
});

describe("a task's page", () => {
  testHere(`a task's page keeps what it shows while nothing answers${chromiumNote}`, async () => {
    const page = await stage().open(`tasks/${task}`);
    await page.shows("Payload");
    await page.shows("reports");
    await page.evaluate(away);
    await page.until(
      `/^no answer since [0-9: -]+$/.test(document.getElementById("connection").textContent)`,
    );
    expect(await page.evaluate("document.getElementById('page').textContent")).not.toContain(
      "There is no task",
    );
    await page.shows("Payload");
  });

  testHere(
    `a task's page says of an id that no task has that there is none, and of no id what one is${chromiumNote}`,
    async () => {
      const unknown = await stage().open("tasks/999999");
      await unknown.shows("There is no task 999999, or its retention is over");
      const none = await stage().open("tasks/abc");
      await none.shows("The API refused: task");
      expect(await none.evaluate("document.getElementById('page').textContent")).not.toContain(
        "There is no task",
      );
    },
  );
});

describe("the dialog of a rate", () => {
  const field = (page: Page, id: string): Promise<unknown> =>
    page.evaluate(`document.querySelector("#rate-${id}").value`);
  const unit = (page: Page): Promise<unknown> =>
    page.evaluate(`document.querySelector('dialog [aria-label="unit"]').value`);

  testHere.each([
    [
      { count: 7, periodMs: 90_000, burst: 3 },
      ["7", "90", "seconds", "3"],
      "7 per 90 s, at most 3 at once",
    ],
    [
      { count: 100, periodMs: 900_000, burst: 20 },
      ["100", "15", "minutes", "20"],
      "100 per 15 min, at most 20 at once",
    ],
    [
      { count: 5, periodMs: 1_500, burst: 1 },
      ["5", "1.5", "seconds", "1"],
      "5 per 1500 ms, at most 1 at once",
    ],
    [
      { count: 2, periodMs: 86_400_000, burst: 1 },
      ["2", "1", "days", "1"],
      "2 per day, at most 1 at once",
    ],
  ])(
    `the dialog of a rate shows the rate in force, and sets it as it is told: %j${chromiumNote}`,
    async (rate, shown, told) => {
      const { api } = stage();
      await api.admin.setRate({ definition: "reports", rate, changedBy: "a test" });
      const page = await stage().open("definitions/reports");
      await page.shows(`At most ${told}`);
      await page.click('[aria-label="change the rate of reports"]');
      expect([
        await field(page, "count"),
        await field(page, "period"),
        await unit(page),
        await field(page, "burst"),
      ]).toEqual(shown);
      await confirm(page);
      await page.shows(`The rate of reports is ${told} now.`);
      expect(await api.admin.definitions("reports")).toMatchObject([{ rate }]);
    },
  );
});

describe("limits", () => {
  testHere.each(["-3", "1001", "2.5"])(
    `the field of a definition's limit refuses %s and tells what a limit is${chromiumNote}`,
    async (typed) => {
      const page = await stage().open("definitions/reports");
      await page.shows("Set the limit ..");
      await page.evaluate(`(() => {
        const field = document.querySelector('input[type="number"][aria-label="limit of reports"]');
        field.focus();
        field.value = "${typed}";
        field.dispatchEvent(new Event("input"));
      })()`);
      await page.shows(`A limit is a whole number in 0..1000, not ${typed}.`);
      const set = `document.querySelector('[aria-label="set the limit of reports"]').disabled`;
      expect(await page.evaluate(set)).toBe(true);
    },
  );

  testHere(`a shared limit that no code names is told so${chromiumNote}`, async () => {
    const { api } = stage();
    const made = { name: "made by hand", limit: 4, create: true, changedBy: "a test" };
    await api.admin.setSharedLimit(made);
    const page = await stage().open("limits");
    await page.shows("4, by an operator; no code names it");
  });

  testHere(
    `the pause of functions under a limit tells what still runs${chromiumNote}`,
    async () => {
      const page = await stage().open("definitions/calls:partner");
      await page.click('[aria-label="pause calls:partner"]');
      await page.shows(
        "Messages that become tasks run as those: a shared limit of 0 holds them, too.",
      );
    },
  );
});

testHere(
  `a page whose reads are slow pauses four times as long between them, and says so${chromiumNote}`,
  async () => {
    const page = await stage().open("definitions");
    await page.shows("reports");
    const title = "document.getElementById('connection').title";
    await page.until(`${title} === "asked every 1 s while this tab is seen"`);
    await page.evaluate(`{
    window.reads = [];
    const real = window.fetch;
    window.fetch = async (path, init) => {
      const read = { begun: performance.now(), ended: Infinity };
      window.reads.push(read);
      await new Promise((resolve) => setTimeout(resolve, 600));
      const answer = await real(path, init);
      read.ended = performance.now();
      return answer;
    };
  } 1`);
    // Of one look there are several reads, one behind the other or at once.
    const pauses = `window.reads.map(({ begun }, n) => begun - Math.max(...window.reads.slice(0, n).map(({ ended }) => ended)))
    .filter((ms) => Number.isFinite(ms) && ms > 200)`;
    await page.until(`${pauses}.length > 0`);
    const [pauseMs] = (await page.evaluate(pauses)) as number[];
    expect(pauseMs).toBeGreaterThan(4 * 600 - 100);
    expect(await page.evaluate(title)).toMatch(/^asked every ([2-9]|\d\d)\S* s while/);
  },
);
