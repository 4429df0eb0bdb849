import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { adviseOnFolder } from "../../../shared/cli/host-probe";

// Goal: `taskgate doctor` compares host.json with the settings that the app runs with.
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "taskgate-host-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function write(name: string, value: unknown): void {
  writeFileSync(join(folder, name), JSON.stringify(value));
}

describe("doctor's advice on host.json", () => {
  test("doctor says of a missing host.json that there is none", async () => {
    expect(await adviseOnFolder(folder, {})).toBe("There is none in the current folder.");
  });

  test("doctor takes the time limit from local.settings.json, and a variable of the environment before it", async () => {
    write("host.json", { version: "2.0", functionTimeout: "00:00:30" });
    write("local.settings.json", { Values: { TASKGATE_FUNCTION_TIMEOUT_MS: "30000" } });
    expect(await adviseOnFolder(folder, {})).toBe("Nothing to advise.");
    const environment = { TASKGATE_FUNCTION_TIMEOUT_MS: "20000" };
    expect(await adviseOnFolder(folder, environment)).toMatchObject({
      text: expect.stringContaining("TASKGATE_FUNCTION_TIMEOUT_MS 20000 ms"),
    });
  });

  test("doctor notes values that can't be read", async () => {
    write("host.json", { version: "2.0", functionTimeout: "00:10:00" });
    write("local.settings.json", { IsEncrypted: true, Values: {} });
    expect(await adviseOnFolder(folder, {})).toMatchObject({
      status: "note",
      text: expect.stringContaining("func settings decrypt"),
    });
  });
});
