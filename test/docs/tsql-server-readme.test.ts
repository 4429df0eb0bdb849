import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { Connection } from "../tsql-server/engine/connection";
import type { runAlone } from "../tsql-server/schedule/step";
import { readBlock, root } from "./markdown";
import { noteRun, pastedApp, testBlocksRan } from "./run-blocks";

/* Goal: the README of the T-SQL server runs as pasted: its two blocks are one file, beside the server's own. */
const page = "test/tsql-server/README.md";

interface Example {
  readonly runAlone: typeof runAlone;
  readonly answer: ReturnType<typeof runAlone>;
  readonly one: Connection;
  readonly two: Connection;
}

test("one connection reads its row, and two take turns at it", async () => {
  for (const folder of ["engine", "schedule"])
    symlinkSync(join(root, "test/tsql-server", folder), join(pastedApp, folder), "dir");
  const markers = ["one-connection", "several-connections"];
  const text = markers.map((marker) => readBlock(page, marker).text).join("\n");
  const path = join(pastedApp, "readme.ts");
  writeFileSync(path, `${text}\nexport { answer, one, two, runAlone };\n`);
  const example = (await import(path)) as Example;
  expect(example.answer.objects()).toEqual([{ Id: 1 }]);
  expect([example.one.state, example.two.state]).toEqual(["idle", "idle"]);
  const read = example.runAlone(example.two, { kind: "batch", sql: "SELECT A FROM dbo.T" });
  expect(read.objects()).toEqual([{ A: 2 }]);
  for (const marker of markers) noteRun([page, marker]);
});

testBlocksRan([
  [page, "one-connection"],
  [page, "several-connections"],
]);
