import { readFileSync } from "node:fs";
import type { Page } from "../support/browser";

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe-core calls serious or critical, on the page as it stands. */
export async function findBarriers(page: Page): Promise<readonly Finding[]> {
  if ((await page.evaluate(`typeof axe`)) === "undefined") {
    const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    await page.evaluate(`${axe}; "loaded"`);
  }
  await page.evaluate(
    `(() => { window.axeFound = undefined; axe.run(document, { resultTypes: ["violations"] }).then((found) => {
      window.axeFound = JSON.stringify(found.violations.filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) })));
    }); return true; })()`,
  );
  await page.until("window.axeFound !== undefined");
  return JSON.parse(String(await page.evaluate("window.axeFound"))) as Finding[];
}
