import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { appRoles } from "../../shared/functions/api/sign-in";
import { assignedRoles } from "./bicep/security-policies";

/* Goal: docs/operate/security.md speaks of what there is: functions, variables, roles. */
const root = join(__dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const page = read("docs/operate/security.md");

describe("docs/operate/security.md", () => {
  test("the security page has each kind of trigger that the app registers among its entry points", () => {
    const [, table = ""] = /## Entry points\n([^]*?)\n## /.exec(page) ?? [];
    const index = read("functions/index.ts");
    const triggers = [...index.matchAll(/^(?:app|gate)\.(storageQueue|timer|api)\(/gm)].map(
      ([, kind]) => kind,
    );
    expect(triggers).toEqual(["storageQueue", "timer", "storageQueue", "api"]);
    for (const name of [
      "`taskgate-hints`",
      "`taskgate-ingest`",
      "`sweep`",
      "HTTP API",
      "`GET dashboard/{file?}`",
    ])
      expect(table).toContain(name);
  });

  test("the security page names variables that the parameter files read", () => {
    const known = new Set(
      ["dev", "prod"].flatMap((name) =>
        [...read(`infra/env/${name}.bicepparam`).matchAll(/Variable\('(\w+)'/g)].map(
          ([, word]) => word,
        ),
      ),
    );
    const named = [...page.matchAll(/\b(?:API|SQL|OPERATOR)_[A-Z_]+\b/g)].map(([word]) => word);
    expect(new Set(named).size).toBeGreaterThan(5);
    expect(named.filter((word) => !known.has(word))).toEqual([]);
  });

  test("the security page names the app roles of the program, which the file for the registration has, too", () => {
    const roles = JSON.parse(read("infra/app-roles.json")) as { value: string; id: string }[];
    expect(roles.map(({ value }) => value)).toEqual(Object.values(appRoles));
    expect(new Set(roles.map(({ id }) => id)).size).toBe(roles.length);
    for (const role of Object.values(appRoles)) expect(page).toContain(`\`${role}\``);
  });

  test("the security page has every role of the app's identity, with the container where it is one", () => {
    for (const assigned of assignedRoles) {
      const [, role = "", place = ""] = /^app: (.+) on (.+)$/.exec(assigned) ?? [];
      expect(page).toContain(role);
      if (!place.startsWith("the ")) expect(page).toContain(`\`${place}\``);
    }
  });
});
