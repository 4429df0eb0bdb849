import { afterAll, afterEach, beforeAll } from "@jest/globals";
import { Browser, hasChromium } from "../support/browser";
import type { Page } from "../support/browser";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { servePage } from "./page-server";
import type { PageServer } from "./page-server";

/** How a page is looked at. */
type Look = Parameters<Browser["open"]>[1];

/** A database, the page over it and a browser, for the tests of one file. */
export interface Stage {
  readonly api: ApiSetup;
  readonly server: PageServer;
  readonly browser: Browser;
  /** Opens the page at a place; it goes on asking until the test has ended. */
  open(place: string, look?: Look): Promise<Page>;
  /** Closes it when the test has ended. */
  closeLater(page: Page): void;
}

/** What stands in the database, and how its page is served. */
export interface StageOptions {
  readonly fill: (api: ApiSetup) => Promise<unknown>;
  readonly serve?: Parameters<typeof servePage>[1];
  readonly fillMs?: number;
}

/** Sets the stage before the tests of a file, and clears it behind them. Without Chromium there is none. */
export function useStage({ fill, serve, fillMs = 60_000 }: StageOptions): () => Stage {
  let stage: Stage | null = null;
  const pages: Page[] = [];
  beforeAll(async () => {
    if (!hasChromium) return;
    const api = await setupApi();
    await fill(api);
    const server = await servePage(api.admin, serve);
    const browser = new Browser();
    const closeLater = (page: Page): void => void pages.push(page);
    const open: Stage["open"] = async (place, look) => {
      const page = await browser.open(`${server.url}#${place}`, look);
      closeLater(page);
      return page;
    };
    stage = { api, server, browser, open, closeLater };
  }, fillMs);
  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.close()));
  });
  afterAll(async () => {
    await stage?.browser.close();
    await stage?.server.close();
    await stage?.api.close();
  }, 30_000);
  return () => {
    if (stage === null) throw new Error("There is no Chromium");
    return stage;
  };
}
