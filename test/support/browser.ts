import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { sleep } from "../../shared/platform/real-clock";

/*
 * A real Chromium without a driver package: commands of the DevTools protocol go through its debugging pipe as JSON texts,
 * each with a zero byte behind it.
 */

/** Where Debian's packages install Chromium, without its windows or with them. */
const places = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** The program; TASKGATE_TEST_CHROMIUM names one in another place. */
export const chromium =
  process.env["TASKGATE_TEST_CHROMIUM"] ?? places.find((place) => existsSync(place)) ?? "chromium";

/** Is there a browser to test with? Tests that need one say so in their names where there is none. */
export const hasChromium = existsSync(chromium);

/** Behind the title of a test that needs a browser. */
export const chromiumNote = hasChromium ? "" : ` (skipped: there is no ${chromium})`;

/** How long something may take to appear: generous, for a machine that is busy with other tests. */
const waitMs = 30_000;
const lookEveryMs = 50;
/** A browser that hasn't ended by then is killed. */
const closeMs = 5_000;

type Answer = Record<string, unknown>;

/** A browser process with a profile of its own. */
export class Browser {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #waiting = new Map<number, { resolve(answer: Answer): void; reject(e: Error): void }>();
  readonly #pages = new Map<string, Page>();
  #lastId = 0;
  #received = "";

  /** `args`: more of them for the program. */
  constructor(args: readonly string[] = []) {
    this.#folder = mkdtempSync(join(tmpdir(), "taskgate-browser-"));
    const quiet = ["--disable-gpu", "--disable-background-networking", "--no-first-run"];
    // A process for each page takes half of the time of a page.
    const cheap = ["--renderer-process-limit=1", "--in-process-gpu"];
    const how = ["--headless", "--no-sandbox", "--remote-debugging-pipe", ...quiet, ...cheap];
    const rest = [...args, `--user-data-dir=${this.#folder}`, "about:blank"];
    this.#process = spawn(chromium, [...how, ...rest], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      env: { ...process.env, TZ: "UTC" },
      detached: true,
    });
    this.#process.once("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("The browser has ended"));
      this.#waiting.clear();
    });
    const output = this.#process.stdio[4] as Readable;
    output.setEncoding("utf8").on("data", (text: string) => {
      this.#read(text);
    });
  }

  /** A page of this width in CSS pixels, in UTC unless told otherwise. */
  async open(url: string, { width = 1280, isDark = false, timeZone = "UTC" } = {}): Promise<Page> {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const attached = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const session = String(attached["sessionId"]);
    const page = new Page((method, params) => this.send(method, params, session));
    this.#pages.set(session, page);
    await page.begin(url, { width, isDark, timeZone });
    return page;
  }

  /** Ends the process, by force when it doesn't by itself, and removes its profile. Never throws. */
  async close(): Promise<void> {
    this.send("Browser.close", {}).catch(() => undefined);
    const ended = once(this.#process, "exit");
    const patience = new AbortController();
    await Promise.race([ended, sleep(closeMs, patience.signal).catch(() => undefined)]);
    // Its timer would keep this process.
    patience.abort();
    // Its helpers are in its process group: one that lives on writes to the profile.
    const { pid } = this.#process;
    try {
      if (pid !== undefined) process.kill(-pid, "SIGKILL");
    } catch {
      // No process is left.
    }
    try {
      rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    } catch {
      // A folder that stays in the system's place for such does no harm.
    }
  }

  send(method: string, params: object, sessionId?: string): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    const input = this.#process.stdio[3] as Writable;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  #read(text: string): void {
    const messages = (this.#received + text).split("\0");
    this.#received = messages.pop() ?? "";
    for (const message of messages) this.#take(JSON.parse(message) as Answer);
  }

  #take(message: Answer): void {
    const waiting = this.#waiting.get(Number(message["id"]));
    if (waiting === undefined) {
      this.#pages.get(String(message["sessionId"]))?.notice(message);
      return;
    }
    this.#waiting.delete(Number(message["id"]));
    if (message["error"] === undefined) waiting.resolve((message["result"] ?? {}) as Answer);
    else waiting.reject(new Error(JSON.stringify(message["error"])));
  }
}

/** One tab. */
export class Page {
  /** Errors of scripts, refused resources, violations of the page's policy. */
  readonly problems: string[] = [];
  readonly #send: (method: string, params: object) => Promise<Answer>;

  constructor(send: (method: string, params: object) => Promise<Answer>) {
    this.#send = send;
  }

  async begin(
    url: string,
    look: { width: number; isDark: boolean; timeZone: string },
  ): Promise<void> {
    for (const domain of ["Page", "Runtime", "Log"]) await this.#send(`${domain}.enable`, {});
    await this.resize(look.width);
    await this.#send("Emulation.setScrollbarsHidden", { hidden: true });
    const value = look.isDark ? "dark" : "light";
    const features = [{ name: "prefers-color-scheme", value }];
    await this.#send("Emulation.setEmulatedMedia", { features });
    // It is of the process, which the pages share.
    if (look.timeZone !== "UTC")
      await this.#send("Emulation.setTimezoneOverride", { timezoneId: look.timeZone });
    await this.#send("Page.navigate", { url });
    await this.until(
      "window.location.href !== 'about:blank' && document.readyState === 'complete'",
    );
  }

  /** Another width, as of a phone. */
  async resize(width: number, height = 900): Promise<void> {
    const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
    await this.#send("Emulation.setDeviceMetricsOverride", metrics);
  }

  /** Before the other tabs: one behind them gets no clicks, and asks nothing. */
  async front(): Promise<void> {
    await this.#send("Page.bringToFront", {});
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const answer = await this.#send("Runtime.evaluate", { expression, returnByValue: true });
    if (answer["exceptionDetails"] !== undefined)
      throw new Error(`${expression}: ${JSON.stringify(answer["exceptionDetails"])}`);
    return (answer["result"] as Answer)["value"];
  }

  /** Waits until the expression is true in the page; throws with the page's text when it never is. */
  async until(expression: string): Promise<void> {
    const endMs = performance.now() + waitMs;
    while ((await this.evaluate(`Boolean(${expression})`)) !== true) {
      if (performance.now() > endMs)
        throw new Error(`Never true: ${expression}\n${await this.text()}`);
      await sleep(lookEveryMs);
    }
  }

  /** Waits for a text in what the page shows. */
  async shows(text: string): Promise<void> {
    await this.until(`document.body.innerText.includes(${JSON.stringify(text)})`);
  }

  /** What people can read. */
  async text(): Promise<string> {
    return String(await this.evaluate("document.body.innerText"));
  }

  /** Presses the mouse on the middle of the first element that fits. */
  async click(selector: string): Promise<void> {
    const found = `document.querySelector(${JSON.stringify(selector)})`;
    await this.until(`${found}?.checkVisibility()`);
    const place = (await this.evaluate(`(() => {
      const found = ${found};
      found.scrollIntoView({ block: "center" });
      const { x, y, width, height } = found.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    })()`)) as { x: number; y: number };
    const how = { ...place, button: "left", clickCount: 1 };
    for (const type of ["mousePressed", "mouseReleased"])
      await this.#send("Input.dispatchMouseEvent", { type, ...how });
  }

  /** Presses a key: Tab, Enter, a blank or one letter. */
  async press(key: string): Promise<void> {
    const code = { Tab: 9, Enter: 13, " ": 32 }[key];
    const text = key === "Enter" ? "\r" : key.length === 1 ? key : undefined;
    const event = { key, windowsVirtualKeyCode: code, text };
    await this.#send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
    await this.#send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }

  /** The whole page as a PNG file, or what is seen of it without scrolling. */
  async picture(path: string, { isWhole = true } = {}): Promise<void> {
    const how = { captureBeyondViewport: isWhole, optimizeForSpeed: false };
    const answer = await this.#send("Page.captureScreenshot", how);
    writeFileSync(path, Buffer.from(String(answer["data"]), "base64"));
  }

  async close(): Promise<void> {
    await this.#send("Page.close", {});
  }

  notice({ method, params }: Answer): void {
    const text = JSON.stringify(params);
    // The browser asks for this by itself; the product has none.
    const isIcon = text.includes("/favicon.ico");
    if ((method === "Runtime.exceptionThrown" || method === "Log.entryAdded") && !isIcon)
      this.problems.push(text);
  }
}
