/** A hostile page in a real browser against the local Functions host: what it can't read, and what it can't change. */
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { sleep } from "../../shared/platform/real-clock";
import { Browser, chromiumNote, hasChromium } from "../support/browser";
import { setup, useHosts } from "./fixtures/host-setup";

const testHere = hasChromium ? test : test.skip;
useHosts();

/** A name that the attacker's name server would point to this machine once the page is loaded. */
const rebound = "rebound.example";
let browser: Browser;
/** Serves the hostile page. */
let elsewhere: Server;
let hostile: string;
beforeAll(async () => {
  if (!hasChromium) return;
  browser = new Browser([
    `--host-resolver-rules=MAP ${rebound} 127.0.0.1`,
    // The browser's own wall around this machine is taken down: only the host's is judged.
    "--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
  ]);
  elsewhere = createServer((_request, response) => {
    response
      .writeHead(200, { "content-type": "text/html" })
      .end("<title>hostile</title>hostile page");
  }).listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  const { port } = elsewhere.address() as AddressInfo;
  hostile = `http://localhost:${String(port)}/`;
});
afterAll(async () => {
  if (!hasChromium) return;
  await browser.close();
  elsewhere.closeAllConnections();
  elsewhere.close();
});

let url: string;
beforeEach(async () => {
  if (hasChromium) ({ url } = await setup());
});

/** What the functions say, asked by a program of this machine. */
async function changes(): Promise<number> {
  const text = await (await fetch(`${url}/api/secret`)).text();
  return Number(/window\.stolen = (\d+)/.exec(text)?.[1]);
}

/** Ends in a text of the page's title: what its script learned. Each is an attack of its own. */
const attacks: Readonly<Record<string, (host: string) => string>> = {
  "reads with fetch": (host) => `(await fetch("${host}/api/secret")).text()`,
  "reads without CORS": (host) => `(await fetch("${host}/api/secret", { mode: "no-cors" })).text()`,
  "sends text without CORS": (host) =>
    `(await fetch("${host}/api/change", { mode: "no-cors", method: "POST", body: "{}" })).text()`,
  "sends nothing without CORS": (host) =>
    `(await fetch("${host}/api/change", { mode: "no-cors", method: "POST" })).text()`,
  "sends JSON": (host) =>
    `(await fetch("${host}/api/change", { method: "POST", body: "{}", headers: { "content-type": "application/json" } })).text()`,
  "puts JSON": (host) =>
    `(await fetch("${host}/api/change", { method: "PUT", body: "{}", headers: { "content-type": "application/json" } })).text()`,
  "sends a beacon": (host) => `String(navigator.sendBeacon("${host}/api/change", "{}") && "")`,
  "shows an image": (host) =>
    `new Promise((done) => { const image = new Image(); image.onload = () => done("the secret"); image.onerror = () => done(""); image.src = "${host}/api/secret"; })`,
  "runs it as a script": (host) =>
    `new Promise((done) => { const tag = document.createElement("script"); tag.onload = tag.onerror = () => done(window.stolen === undefined ? "" : "the secret"); tag.src = "${host}/api/secret"; document.head.append(tag); })`,
  "opens a WebSocket": (host) =>
    `new Promise((done) => { const socket = new WebSocket("${host.replace("http", "ws")}/api/secret"); socket.onopen = () => done("the secret"); socket.onerror = () => done(""); })`,
  "posts a form": (host) =>
    `new Promise((done) => { const frame = document.createElement("iframe"); frame.name = "sink"; document.body.append(frame); const form = document.createElement("form"); Object.assign(form, { method: "post", action: "${host}/api/change", target: "sink", enctype: "text/plain" }); form.innerHTML = '<input name=\\'{"limit":0,"a\\' value=\\'":1}\\'>'; document.body.append(form); form.submit(); setTimeout(() => { try { done(frame.contentDocument.body.innerText); } catch { done(""); } }, 500); })`,
};

function inPage(script: string): string {
  return `(async () => { let got; try { got = await (async () => ${script})(); } catch (error) { got = ""; } document.title = "done: " + got; })(); 0`;
}

describe("a hostile page", () => {
  testHere(
    `a hostile page of another origin changes nothing and reads nothing${chromiumNote}`,
    async () => {
      const learned: Record<string, unknown> = {};
      // One after the other: a browser lets the scripts of a hidden page wait.
      for (const [name, script] of Object.entries(attacks)) {
        const page = await browser.open(hostile);
        await page.evaluate(inPage(script(url)));
        await page.until(`document.title.startsWith("done:")`);
        learned[name] = await page.evaluate("document.title");
        await page.close();
      }
      // A beacon doesn't tell when it has arrived.
      await sleep(200);
      expect(await changes()).toBe(0);
      expect(learned).toEqual(
        Object.fromEntries(Object.keys(attacks).map((name) => [name, "done:"])),
      );
    },
  );

  testHere(
    `a hostile page under a name that was rebound to this machine gets nothing${chromiumNote}`,
    async () => {
      const { port } = new URL(url);
      const page = await browser.open(`http://${rebound}:${port}/api/own-page`);
      const text = await page.text();
      expect(text).toContain("Host: expected one of 127.0.0.1");
      expect(text).not.toContain("own page");
      // The page that the attacker served before the name changed asks its own origin.
      for (const name of ["reads with fetch", "sends JSON", "puts JSON"]) {
        await page.evaluate(`document.title = ""`);
        await page.evaluate(inPage(attacks[name]?.("") ?? ""));
        await page.until(`document.title.startsWith("done:")`);
        expect(await page.evaluate("document.title")).toMatch(/"status":421/);
      }
      expect(await changes()).toBe(0);
    },
  );
});

describe("the own page", () => {
  testHere(
    `the own page reads and changes, under both names of this machine${chromiumNote}`,
    async () => {
      for (const place of [url, url.replace("127.0.0.1", "localhost")]) {
        const page = await browser.open(`${place}/api/own-page`);
        await page.shows("own page");
        const before = await changes();
        for (const name of [
          "reads with fetch",
          "sends JSON",
          "puts JSON",
          "sends nothing without CORS",
        ]) {
          await page.evaluate(`document.title = ""`);
          await page.evaluate(inPage(attacks[name]?.("") ?? ""));
          await page.until(`document.title.startsWith("done:")`);
          expect(await page.evaluate("document.title")).toMatch(/the secret|"changes":/);
        }
        expect(await changes()).toBe(before + 3);
        await page.close();
      }
    },
  );
});
