import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { readLandedRows } from "../../functions/tasks/flights/landed-file";

const folder = mkdtempSync(join(tmpdir(), "taskgate-landed-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("a landed file that an editor on Windows has written begins with a byte order mark, and is read", async () => {
  const content = '\uFEFF[{"origin":"LAX"}]';
  const path = join(folder, "marked.json");
  writeFileSync(path, content);
  const sha256 = createHash("sha256").update(content).digest("hex");
  const file = { eventId: "1", name: "marked.json", path, sha256 };
  expect(await readLandedRows(file)).toEqual([{ origin: "LAX" }]);
});
