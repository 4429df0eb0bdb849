// Goal: docs/reference/telemetry.md names exactly the measured values; the packages are those it was tried with.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { globSync } from "tinyglobby";

const root = join(__dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const page = read("docs/reference/telemetry.md");
/** First cells of table rows that are code: names of counters, distributions, spans and attributes. */
const cells = [...page.matchAll(/^\| `([^`]+)`\s+\|/gm)].map((match) => match[1] ?? "");

describe("the reference of telemetry", () => {
  it("the reference of telemetry has a row for every counter and distribution, and none for others", () => {
    const port = read("shared/ports/telemetry.ts");
    const types = port.slice(port.indexOf("export type TelemetryCounter"));
    const names = [...types.matchAll(/"(taskgate\.[a-z_.]+)"/g)].map((match) => match[1]);
    expect(names.length).toBeGreaterThan(10);
    expect(cells.filter((cell) => cell.startsWith("taskgate.")).sort()).toEqual(names.sort());
  });

  it("the reference of telemetry has a row for every span that the code opens", () => {
    const files = globSync(["shared/**/*.ts", "functions/**/*.ts"], { cwd: root });
    const names = files
      .map(read)
      .flatMap((text) => [...text.matchAll(/\.span\(\s*\{\s*name: [`"]([^`"]+)[`"]/g)])
      .map((match) => (match[1] ?? "").replace(/ ?\$\{.*$/, ""));
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) expect(cells.map((cell) => cell.split(" ")[0])).toContain(name);
  });

  it("the reference of telemetry states the bound of spans per second that the code sets", () => {
    const bound = /const spansPerSecond = (\d+);/.exec(read("shared/platform/telemetry.ts"))?.[1];
    expect(page).toContain(`${String(bound)} spans per second`);
  });
});

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

describe("the installed packages", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as Lock;
  const versionsOf = (name: string): (string | undefined)[] =>
    Object.entries(packages)
      .filter(([path]) => path.endsWith(`node_modules/${name}`))
      .map(([, entry]) => entry.version);

  // Others write the newer names of database attributes, which this exporter shows without type and target.
  it.each([
    ["@azure/monitor-opentelemetry-exporter", "1.0.0-beta.42"],
    ["@azure/monitor-opentelemetry", "1.18.1"],
    ["@opentelemetry/instrumentation-pg", "0.69.0"],
    ["@opentelemetry/instrumentation-tedious", "0.36.0"],
  ])("the installed packages hold %s once, as %s", (name, version) => {
    expect(versionsOf(name)).toEqual([version]);
  });

  it("the installed packages hold one interface package: spans of one are unknown to another", () => {
    expect(versionsOf("@opentelemetry/api")).toHaveLength(1);
  });
});
