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

/** Nothing is advised on it. */
const quiet = {
  version: "2.0",
  functionTimeout: "00:10:00",
  extensions: { queues: { maxPollingInterval: "00:00:10" } },
};

describe("doctor's advice on host.json", () => {
  test("doctor says of a missing host.json that there is none", async () => {
    expect(await adviseOnFolder(folder, {})).toBe("There is none in the current folder.");
  });

  test("doctor takes the time limit from local.settings.json, and a variable of the environment before it", async () => {
    write("host.json", { ...quiet, functionTimeout: "00:00:30" });
    write("local.settings.json", { Values: { TASKGATE_FUNCTION_TIMEOUT_MS: "30000" } });
    expect(await adviseOnFolder(folder, {})).toBe("Nothing to advise.");
    const environment = { TASKGATE_FUNCTION_TIMEOUT_MS: "20000" };
    expect(await adviseOnFolder(folder, environment)).toMatchObject({
      text: expect.stringContaining("TASKGATE_FUNCTION_TIMEOUT_MS 20000 ms"),
    });
  });

  test("doctor tells of absent members what Azure does without them", async () => {
    write("host.json", { version: "2.0" });
    expect(await adviseOnFolder(folder, {})).toMatchObject({
      text: expect.stringMatching(
        /functionTimeout isn't set: .* after 5 minutes on a Consumption plan, else after 30\. TASKGATE_FUNCTION_TIMEOUT_MS is 30000 ms\. .*maxPollingInterval isn't set, and Azure's default is a minute/,
      ),
    });
  });

  test("doctor tells a queue that is looked into rarely", async () => {
    const extensions = { queues: { maxPollingInterval: "00:00:11" } };
    write("host.json", { ...quiet, functionTimeout: "00:00:30", extensions });
    expect(await adviseOnFolder(folder, {})).toMatchObject({
      text: "maxPollingInterval is 11000 ms: a hint or an event may wait that long in a queue that was empty. The template has 00:00:02 (extensions.queues).",
    });
  });

  test("doctor notes values that can't be read", async () => {
    write("host.json", quiet);
    write("local.settings.json", { IsEncrypted: true, Values: {} });
    expect(await adviseOnFolder(folder, {})).toMatchObject({
      status: "note",
      text: expect.stringContaining("func settings decrypt"),
    });
  });
});
