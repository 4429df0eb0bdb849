import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { uniqueName } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: an enqueue says that its task won't start where an operator holds it, and doesn't promise a worker. Method: each hold, by a
// database and by an app's address.
let api: ApiSetup;
let name: string;
let folder: string;

beforeAll(async () => {
  api = await setupApi();
  folder = mkdtempSync(join(tmpdir(), "taskgate-held-"));
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});
beforeEach(async () => {
  name = uniqueName("held");
  await api.register(name, { sharedLimits: [{ name: `shared-${name}`, limit: 3 }] });
});

const free = /(A worker is told|No queue is known here .*)\.$/;

interface Hold {
  readonly title: string;
  readonly words: () => readonly string[];
  readonly says: () => string;
}

const holds: readonly Hold[] = [
  {
    title: "a pause",
    words: () => ["pause", name],
    says: () =>
      `Definition \`${name}\` is paused by an operator: nothing starts until \`taskgate resume ${name}\`.`,
  },
  {
    title: "a limit of 0",
    words: () => ["limit", name, "0", "--yes"],
    says: () => `The limit of \`${name}\` is 0, set by an operator: nothing starts.`,
  },
  {
    title: "a shared limit of 0",
    words: () => ["limit", `shared-${name}`, "0", "--shared", "--yes"],
    says: () => `The shared limit \`shared-${name}\` is 0: nothing that draws from it starts.`,
  },
  {
    title: "the pause of its group",
    words: () => ["group", name, "g", "--pause"],
    says: () => "Group `g` is paused: none of its tasks starts.",
  },
];

describe("an enqueue of a task that an operator holds", () => {
  test.each(holds)(
    "the command enqueue tells $title in place of a worker",
    async ({ title, words, says }) => {
      const group = title.includes("group") ? ["--group", "g"] : [];
      const enqueue = ["enqueue", name, ...group];
      expect((await api.taskgate(...enqueue)).out).toMatch(free);
      expect((await api.taskgate(...words())).code).toBe(0);
      const file = join(folder, "tasks.jsonl");
      writeFileSync(file, '{"n":1}\n{"n":2}\n');
      for (const { out } of [
        await api.taskgate(...enqueue),
        await api.byUrl(...enqueue),
        await api.taskgate(...enqueue, "--from", file),
      ])
        expect(out.replace(/^.*? (was|were) added to .*?\. /, "")).toBe(says());
    },
  );

  test("the command enqueue tells the pause of a definition beside the time at which the task is due", async () => {
    await api.taskgate("pause", name);
    const { out } = await api.taskgate("enqueue", name, "--run-in", "1h");
    expect(out).toMatch(/It is due in .*\. Definition .* is paused by an operator/);
  });
});
