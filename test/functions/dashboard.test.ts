import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { chromiumNote, hasChromium } from "../support/browser";
import type { Page } from "../support/browser";
import { auditActions } from "../../shared/core/audit-actions";
import { sleep } from "../../shared/platform/real-clock";
import { enqueue, startWorker } from "../support/builders";
import type { ApiSetup } from "./api-setup";
import { evil, makeScene } from "./dashboard-scene";
import { useStage } from "./dashboard-stage";
import { servePage } from "./page-server";

// Goal: every view of the dashboard in a real browser, over the real API and a database: what it shows, what its buttons
// do, that names are never taken for HTML, and that nothing is asked from elsewhere.
const testHere = hasChromium ? test : test.skip;

const stage = useStage({ fill: makeScene });
let api: ApiSetup;
beforeAll(() => {
  if (hasChromium) ({ api } = stage());
});

const open = (view: string, look?: { width?: number; isDark?: boolean }): Promise<Page> =>
  stage().open(view, look);

/** By view: what must be on it. */
const views: Record<string, readonly string[]> = {
  overview: ["fetch", "2 of 4", "1 dead", evil],
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
  schedules: ["nightly", "0 2 * * MON-FRI", "Europe/Berlin", "never", evil],
  limits: ["fetch", "2 of 4", "1 per day, at most 1 at once", "partner-api", "fetch 2, push 1"],
  groups: ["customer-7", "1 of 1", evil],
  watermarks: [evil, '{"last":"4711"}'],
  tasks: ["One definition's tasks", "State"],
  failures: ["no such row", "Redrive 1 .."],
  executions: ["worker-1", "live"],
  audit: ["register definition", evil],
  [`definitions/${encodeURIComponent(evil)}`]: [evil, "At most 4 run at once, as in code."],
  [`search?q=${encodeURIComponent("<img")}`]: ["definition", "batch", evil],
};

/** The second press, with a reason. */
async function confirm(page: Page, reason = ""): Promise<void> {
  await page.until(`document.querySelector("dialog .buttons button")?.disabled === false`);
  await page.evaluate(`document.querySelector("#reason").value = ${JSON.stringify(reason)}; 1`);
  await page.click("dialog .buttons button");
  await page.until(`document.querySelector("dialog") === null`);
}

describe("each view", () => {
  for (const [view, texts] of Object.entries(views)) {
    testHere(`${view} shows what there is, as text${chromiumNote}`, async () => {
      const page = await open(view);
      for (const text of texts) await page.shows(text);
      await page.until(`document.getElementById("connection").className === "good"`);
      expect(await page.evaluate("document.querySelectorAll('img').length")).toBe(0);
      expect(await page.evaluate("document.title")).toMatch(/ - Taskgate$/);
      expect(page.problems).toEqual([]);
    });

    testHere(`${view} fits a narrow screen${chromiumNote}`, async () => {
      const page = await open(view, { width: 360, isDark: true });
      for (const text of texts) await page.shows(text);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
      expect(page.problems).toEqual([]);
    });
  }

  testHere(`a link of before to the workers shows the executions${chromiumNote}`, async () => {
    const page = await open("workers?all=yes");
    await page.shows("worker-1");
    expect(await page.evaluate("document.querySelector('nav a[aria-current]').innerText")).toBe(
      "Executions",
    );
    expect(await page.evaluate("document.getElementById('executions-all').checked")).toBe(true);
  });

  testHere(`a name's signs without a shape are told by their numbers${chromiumNote}`, async () => {
    const name = "turned\u202egnp\u200b\u001b[2J";
    await api.register(name);
    const page = await open(`definitions/${encodeURIComponent(name)}`);
    await page.shows("turned[U+202E]gnp[U+200B][U+001B][2J");
    expect(await page.evaluate("document.body.innerText.includes('\\u202e')")).toBe(false);
    expect(page.problems).toEqual([]);
    await enqueue(api.store, name, [{ group: name }, { group: name }]);
    const groups = await open("groups");
    await groups.shows("turned[U+202E]gnp");
    // Texts, and the labels that are read aloud.
    expect(
      await groups.evaluate(
        `[...document.querySelectorAll("*")].some((each) => each.innerText?.includes("\\u202e") || each.ariaLabel?.includes("\\u202e"))`,
      ),
    ).toBe(false);
  });

  testHere.each([320, 360, 768, 1_024, 1_440])(
    `a tile of the overview has room for the largest count at %d pixels${chromiumNote}`,
    async (width) => {
      const page = await open("overview", { width });
      await page.shows("2 of 4");
      const tooWide = await page.evaluate(`(() => {
        const counts = [...document.querySelectorAll(".tiles b")];
        for (const count of counts) count.textContent = "10,000+";
        return counts.length > 0 && counts.filter((count) => count.scrollWidth > count.clientWidth).length;
      })()`);
      expect(tooWide).toBe(0);
    },
  );

  testHere(`the overview shows what the filter lets through${chromiumNote}`, async () => {
    const page = await open("overview?filter=fet");
    await page.shows("2 of 4");
    expect(await page.evaluate("document.querySelectorAll('.definitions tbody tr').length")).toBe(
      1,
    );
    await page.evaluate(`document.querySelector("#filter").value = "none such"; 1`);
    await page.evaluate(`document.querySelector("#filter").dispatchEvent(new Event("input")); 1`);
    await page.shows("No definition is shown.");
    expect(await page.evaluate("location.hash")).toBe("#overview?filter=none+such");
  });

  testHere(`a cell of the overview leads to the task that runs on it${chromiumNote}`, async () => {
    await api.register("cells");
    await enqueue(api.store, "cells", 1);
    const pusher = await startWorker(api.store, "cells", { want: 1 });
    const task = await pusher.claimOne();
    await pusher.beat([task.taskId]);
    const page = await open("overview?filter=cells");
    await page.click(`.slots a[href="#tasks/${task.taskId}"]`);
    await page.shows(`Task ${task.taskId}`);
    await page.shows("it is running");
    await page.shows("on worker-1");
    await pusher.complete([task]);
    await page.shows("There is none, or none is kept.");
    await page.shows("Its handler returned nothing.");
    expect(page.problems).toEqual([]);
  });

  testHere(`instants are in one zone, which can be switched${chromiumNote}`, async () => {
    const page = await open("schedules");
    await page.shows("2099-01-01 01:00:00");
    expect(await page.evaluate(`document.getElementById("zone").textContent`)).toBe("Times: UTC");
    const south = await stage().open("schedules", { timeZone: "Pacific/Auckland" });
    await south.shows("2099-01-01 14:00:00");
    await south.shows("Times: Pacific/Auckland");
    await south.click("#zone");
    await south.shows("2099-01-01 01:00:00");
    await south.shows("Times: UTC");
  });

  testHere(`a hidden tab asks nothing${chromiumNote}`, async () => {
    const page = await open("overview");
    await page.shows("2 of 4");
    const asked = (): Promise<unknown> =>
      page.evaluate(`performance.getEntriesByType("resource").length`);
    await page.evaluate(`Object.defineProperty(document, "hidden", { value: true }); 1`);
    await sleep(1_200);
    const before = await asked();
    await sleep(2_500);
    expect(await asked()).toBe(before);
  });

  testHere(`a selected text and the focus stay through further looks${chromiumNote}`, async () => {
    const page = await open("failures");
    await page.shows("no such row");
    await page.evaluate(
      `document.getSelection().selectAllChildren(document.querySelector(".failures pre")); 1`,
    );
    await page.evaluate(`document.querySelector(".failures button").focus(); window.looked = 0; 1`);
    const before = await page.evaluate("document.activeElement.getAttribute('aria-label')");
    await sleep(4_000);
    expect(await page.evaluate("String(document.getSelection())")).toBe("no such row");
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(before);
  });
});

describe("the search", () => {
  const find = async (text: string): Promise<Page> => {
    const page = await open("overview");
    await page.shows("2 of 4");
    await page.evaluate(`document.querySelector("#search").value = ${JSON.stringify(text)}; 1`);
    await page.click("#search-form button");
    return page;
  };

  testHere(
    `the search for a number opens the task, one that isn't there too${chromiumNote}`,
    async () => {
      const page = await find("999999");
      await page.shows("There is no task 999999");
      expect(await page.evaluate("location.hash")).toBe("#tasks/999999");
    },
  );

  testHere(`the search for a definition's name opens it${chromiumNote}`, async () => {
    const page = await find("fetch");
    await page.shows("At most 4 run at once");
  });

  testHere(`the search for a part of a name shows what has it${chromiumNote}`, async () => {
    const page = await find("import of");
    await page.shows("import of May");
    await page.shows("import of June");
    await page.click(`.found a`);
    await page.shows("All batches");
  });

  testHere(`the search for a group's key finds the group${chromiumNote}`, async () => {
    const page = await find("customer-7");
    await page.shows("customer-7 of fetch");
  });
});

describe("an app", () => {
  testHere(
    `an app without the routes of operators has no button that changes${chromiumNote}`,
    async () => {
      const readOnly = await servePage(api.admin, { operatorApi: false });
      try {
        for (const view of ["overview", "schedules", "groups", "batches", "definitions/fetch"]) {
          const page = await stage().browser.open(`${readOnly.url}#${view}`);
          await page.shows("read only");
          await page.shows(views[view]?.[0] ?? "fetch");
          await page.until(
            `document.body.classList.contains("read-only") && ![...document.querySelectorAll('main button[type="button"], main .stepper input')].some((part) => part.checkVisibility())`,
          );
          expect(page.problems.filter((problem) => !problem.includes("404"))).toEqual([]);
          await page.close();
        }
      } finally {
        await readOnly.close();
      }
    },
  );

  testHere(`an app without newer routes shows the rest${chromiumNote}`, async () => {
    const newer = [
      "failures",
      "failures/redrive",
      "stop",
      "resume",
      "definitions/{name}/pace",
      "definitions/{name}/statistics",
      "statistics",
    ];
    const older = await servePage(api.admin, { without: newer });
    try {
      const page = await stage().browser.open(`${older.url}#overview`);
      stage().closeLater(page);
      await page.shows("2 of 4");
      expect(await page.evaluate(`document.getElementById("stop").checkVisibility()`)).toBe(false);
      await page.evaluate(`location.hash = "#failures"; 1`);
      await page.shows("no such row");
      await page.shows("Redrive 1 ..");
      await page.evaluate(`location.hash = "#definitions/fetch"; 1`);
      await page.shows("At most 4 run at once");
      await page.shows("customer-7");
      expect(await page.text()).not.toContain("99 % within");
    } finally {
      await older.close();
    }
  });
});

describe("buttons", () => {
  testHere(`a schedule is paused and resumed${chromiumNote}`, async () => {
    const page = await open("schedules");
    await page.click('[aria-label="pause schedule nightly of fetch"]');
    await confirm(page);
    await page.shows("Schedule nightly of fetch is paused.");
    await page.shows("none while it is paused");
    const nightly = { definition: "fetch", schedule: "nightly" };
    expect(await api.admin.schedule(nightly)).toMatchObject({ paused: true });
    await page.click('[aria-label="resume schedule nightly of fetch"]');
    await confirm(page);
    await page.shows("Schedule nightly of fetch is resumed.");
    expect(await api.admin.schedule(nightly)).toMatchObject({ paused: false });
  });

  testHere(
    `a schedule is run now after a preview, and its task is followed${chromiumNote}`,
    async () => {
      await api.register("monthly");
      const schedule = { name: "report", kind: "monthly", cron: "0 2 1 * *", timeZone: "UTC" };
      const more = { missed: "once", payload: '{"a":1}', group: null } as const;
      const schedules = [{ ...schedule, ...more, nextRunAt: new Date("2099-01-01T02:00:00Z") }];
      await api.store.setSchedules({ name: "monthly", build: 7, changedBy: "code", schedules });
      const page = await open("schedules");
      await page.click('[aria-label="run now: schedule report of monthly"]');
      await page.shows("It adds one task of kind monthly, with the payload of the schedule.");
      await page.shows("It starts as soon as a worker takes it.");
      await page.until(`document.querySelector("dialog .buttons button")?.disabled === false`);
      expect(await page.evaluate(`document.querySelector("#reason")`)).toBeNull();
      await page.click("dialog .buttons button");
      await page.shows("of schedule report of monthly: ready");
      const { tasks } = await api.store.listTasks({ name: "monthly", state: "ready", max: 10 });
      const [{ task } = { task: "" }] = tasks;
      expect(tasks).toHaveLength(1);
      const worker = await startWorker(api.store, "monthly");
      const claimed = await worker.claim(1);
      await page.shows("of schedule report of monthly: running");
      await worker.complete(claimed);
      await page.shows("of schedule report of monthly: done");
      expect(await page.evaluate(`document.querySelector("#notice a").hash`)).toBe(
        `#tasks/${task}`,
      );
      const status = await api.admin.schedule({ definition: "monthly", schedule: "report" });
      expect(status.runAt).toBe("2099-01-01T02:00:00.000Z");
      await api.store.pauseDefinition({ name: "monthly", changedBy: "ada" });
      await page.click('[aria-label="run now: schedule report of monthly"]');
      await page.shows("monthly is paused: the task waits until it is resumed.");
      expect(page.problems).toEqual([]);
    },
  );

  testHere(
    `the second of two operators is told what the first has changed, and nothing is lost${chromiumNote}`,
    async () => {
      await api.register("raced", { limit: 3 });
      const first = await open("definitions/raced");
      const second = await open("definitions/raced");
      const ask = async (page: Page, more: string): Promise<void> => {
        await page.click(`[aria-label="${more} for raced"]`);
        await page.click('[aria-label="set the limit of raced"]');
        await page.shows("Set the limit of raced?");
      };
      // Both dialogs are open with the limit of 3.
      await ask(second, "one token less");
      await first.front();
      await ask(first, "one token more");
      await confirm(first, "the partner is back");
      await first.shows("The limit of raced is 4 now.");
      await second.front();
      await confirm(second, "the partner is slow");
      await second.shows("It was not done: changed meanwhile by http: limit as in code -> 4");
      expect(await api.admin.definitions("raced")).toMatchObject([{ limit: 4 }]);
      // It looks at the new value, and sets its own in the knowledge of it.
      await second.shows("At most 4 run at once");
      await second.shows("4 becomes 2");
      await second.click('[aria-label="set the limit of raced"]');
      await confirm(second, "the partner is slow");
      await second.shows("The limit of raced is 2 now.");
      const { entries } = await api.store.listAudit({
        object: "raced",
        action: "set_limit",
        max: 9,
      });
      expect(entries.map((entry) => [entry.old, entry.new, entry.reason])).toEqual([
        ["4", "2", "the partner is slow"],
        [null, "4", "the partner is back"],
      ]);
      await api.admin.setLimit({ definition: "raced", changedBy: "bob", limit: null });
      await second.shows("2 \u2192 no limit");
      expect(first.problems).toEqual([]);
    },
  );

  testHere(
    `a pause is refused where the definition was changed behind the open dialog${chromiumNote}`,
    async () => {
      await api.register("stale");
      const page = await open("definitions/stale");
      await page.click('[aria-label="pause stale"]');
      await page.shows("Pause stale?");
      await api.admin.pause({
        definition: "stale",
        changedBy: "bob",
        reason: "the partner is down",
      });
      await confirm(page, "the same");
      await page.shows("changed meanwhile by bob: paused false -> true");
      await page.until(`document.querySelector('[aria-label="resume stale"]').hidden === false`);
    },
  );

  testHere(`a group is paused and resumed, by keys alone${chromiumNote}`, async () => {
    const page = await open("groups");
    await page.shows("customer-7");
    const label = (): Promise<unknown> =>
      page.evaluate("document.activeElement.getAttribute('aria-label')");
    for (let presses = 0; presses < 60; presses += 1) {
      await page.press("Tab");
      if ((await label()) === "pause group customer-7 of fetch") break;
    }
    await page.press("Enter");
    await page.shows("Pause group customer-7?");
    expect(await page.evaluate("document.activeElement.id")).toBe("reason");
    await page.press("x");
    await page.press("Enter");
    await page.shows("Group customer-7 of fetch is paused.");
    const groups = await api.admin.groups({ name: "fetch", max: 5 });
    expect(groups).toMatchObject([
      { key: "customer-5", paused: false },
      { key: "customer-7", paused: true },
    ]);
    expect(await label()).toBe("resume group customer-7 of fetch");
    await page.click('[aria-label="resume group customer-7 of fetch"]');
    await confirm(page);
    await page.shows("Group customer-7 of fetch is resumed.");
  });

  testHere(`a group's wait is explained by its own task${chromiumNote}`, async () => {
    const page = await open("groups");
    await page.click('[aria-label="why does group customer-7 of fetch wait?"]');
    await page.until(`document.querySelector(".why li.decides") !== null`);
    await page.shows("Group customer-7 is full");
    expect(await page.evaluate("window.location.hash")).toMatch(/^#tasks\/\d+$/);
    expect(page.problems).toEqual([]);
  });

  testHere(`a task that the rate keeps back says so${chromiumNote}`, async () => {
    const page = await open("tasks?definition=mail&state=ready");
    await page.click("th.id a");
    await page.shows("is ready.");
    await page.shows("The rate of mail is used up");
  });

  testHere(`a limit is set after its preview, with a reason${chromiumNote}`, async () => {
    const page = await open("definitions/push");
    await page.click('[aria-label="one token more for push"]');
    await page.shows("2 becomes 3: ");
    await page.click('[aria-label="set the limit of push"]');
    await page.shows("Set the limit of push?");
    expect(await api.admin.definitions("push")).toMatchObject([{ limit: 2 }]);
    await confirm(page, "the partner is fast today");
    await page.shows("The limit of push is 3 now.");
    await page.shows("set by an operator; the code says 2");
    const [entry] = await api.admin.audit({ object: "push", max: 1 });
    expect(entry).toMatchObject({ new: "3", reason: "the partner is fast today" });
    await page.shows("the partner is fast today");
    await page.click('[aria-label="the limit of push as in code"]');
    await page.click('[aria-label="set the limit of push"]');
    await confirm(page);
    await page.shows("The limit of push is 2 now.");
  });

  testHere(`a dialog that is left changes nothing${chromiumNote}`, async () => {
    const page = await open("definitions/push");
    await page.click('[aria-label="pause push"]');
    await page.shows("Pause push?");
    await page.click("dialog .buttons button:last-child");
    await page.until(`document.querySelector("dialog") === null`);
    expect(await api.admin.definitions("push")).toMatchObject([{ paused: false }]);
  });

  testHere(
    `a definition is paused and resumed, its rate is set and taken away${chromiumNote}`,
    async () => {
      const page = await open("definitions/push");
      await page.click('[aria-label="pause push"]');
      await confirm(page, "a test");
      await page.shows("push is paused.");
      await page.click('[aria-label="resume push"]');
      await confirm(page);
      await page.shows("push is resumed.");
      await page.click('[aria-label="change the rate of push"]');
      await confirm(page);
      await page.shows("The rate of push is 60 per minute, at most 1 at once now.");
      await page.click('[aria-label="the rate of push as in code"]');
      await confirm(page);
      await page.shows("The rate of push is none now.");
    },
  );

  testHere(`a task is rescheduled, cancelled and redriven${chromiumNote}`, async () => {
    const [task] = await enqueue(api.store, "parts", 1);
    const id = String(task);
    const page = await open(`tasks/${id}`);
    await page.click(`[aria-label="reschedule task ${id}"]`);
    await confirm(page);
    await page.shows(`Task ${id} has its new time.`);
    await page.shows("It is not due for");
    await page.click(`[aria-label="cancel task ${id}"]`);
    await confirm(page, "ordered twice");
    await page.shows(`Task ${id} is cancelled.`);
    await page.shows("ordered twice");
    await page.click(`[aria-label="redrive task ${id}"]`);
    await confirm(page);
    await page.shows(`Task ${id} will run again.`);
    expect(page.problems).toEqual([]);
  });

  testHere(`failures that are alike are redriven after a preview${chromiumNote}`, async () => {
    await api.register("bills");
    await enqueue(api.store, "bills", 3);
    const worker = await startWorker(api.store, "bills", { want: 3 });
    for (const [index, task] of (await worker.claim(3)).entries())
      await worker.fail([task], { as: "dead", error: `no customer ${String(index)}` });
    const page = await open("failures?definition=bills");
    await page.shows("no customer 2");
    await page.click(".failures button");
    await page.shows("3 dead tasks will run again");
    expect(await api.admin.definitions("bills")).toMatchObject([{ dead: 3 }]);
    await confirm(page, "customers are there now");
    await page.shows("3 redriven.");
    await page.shows("Nothing has failed for good.");
    expect(await api.admin.definitions("bills")).toMatchObject([{ dead: 0, ready: 3 }]);
  });

  testHere(
    `a halted batch is resumed, behind what was redriven of its wave${chromiumNote}`,
    async () => {
      const page = await open("batches");
      const [, may] = await api.admin.batches({ max: 10 });
      await page.shows("Of wave 1 a task is dead");
      const dead = await api.store.listTasks({ name: "parts", state: "dead", max: 10 });
      const taskIds = dead.tasks.map(({ task }) => task);
      expect(taskIds).toHaveLength(1);
      await api.store.redriveTasks({ taskIds });
      await page.shows("Redriven tasks of wave 1 run, 1 in all.");
      await api.store.cancelTasks({ taskIds });
      await page.shows("It halted at a dead task, and none is left: resume it.");
      await page.click(`[aria-label="resume batch ${String(may?.batch)}, import of May"]`);
      await confirm(page);
      await page.shows(`Batch ${String(may?.batch)} goes on with its next wave.`);
      await page.shows("0 of 3, open");
    },
  );

  testHere(`a batch is cancelled by a second press only${chromiumNote}`, async () => {
    const page = await open("batches");
    const [june] = await api.admin.batches({ max: 10 });
    const batch = String(june?.batch);
    await page.click(`[aria-label="cancel batch ${batch}, import of June"]`);
    await page.shows("Cancel batch");
    expect(await api.admin.batches({ max: 1 })).toMatchObject([{ state: "running" }]);
    await confirm(page);
    await page.shows(`Batch ${batch} is cancelled`);
    await page.shows("of 1, cancelled");
    expect(await api.admin.batches({ max: 1 })).toMatchObject([{ state: "cancelled" }]);
  });

  testHere(`a shared limit is set, and what is refused is said${chromiumNote}`, async () => {
    const page = await open("limits");
    await page.click('[aria-label="set shared limit partner-api"]');
    await page.evaluate(`document.querySelector("#shared-limit").value = "4"; 1`);
    await confirm(page);
    await page.shows("Shared limit partner-api is 4 now.");
    await page.click('[aria-label="set shared limit partner-api"]');
    await page.evaluate(
      `document.querySelector("dialog form").noValidate = true; document.querySelector("#shared-limit").value = "9999"; 1`,
    );
    await confirm(page);
    await page.shows("Nothing was changed: limit: expected");
  });
});

test("the audit's filter names every operation that leaves entries", () => {
  const text = readFileSync("shared/functions/dashboard/ui/audit.js", "utf8");
  const [, list = ""] = /const actions = \[([^\]]*)\]/.exec(text) ?? [];
  const named = [...list.matchAll(/"(\w+)"/g)].map(([, name]) => name);
  expect(named.sort()).toEqual([...auditActions].sort());
});
