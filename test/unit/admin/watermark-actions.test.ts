import { describe, expect, test } from "@jest/globals";
import type { Admin } from "../../../shared/admin/create-admin";
import { watermarkCalls } from "../../../shared/admin/watermark-actions";
import { realRandom } from "../../../shared/platform/real-clock";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { define } from "../../support/builders";
import { expectError } from "../../support/expect-error";

const changedBy = "ada";

async function openCalls(
  watermarks: readonly string[],
): Promise<Pick<Admin, "setWatermark" | "watermarks">> {
  const store = new MemoryTaskStore({ clock: { now: () => Date.now() }, random: realRandom });
  await define(store, {}, "import");
  const calls = watermarkCalls({ store, random: realRandom });
  for (const watermark of watermarks)
    await calls.setWatermark({ definition: "import", watermark, value: "[1]", changedBy });
  return calls;
}

const clear = (calls: Pick<Admin, "setWatermark">, watermark: string, definition = "import") =>
  calls.setWatermark({ definition, watermark, value: null, changedBy });

describe("a watermark that is cleared", () => {
  test("a watermark that is cleared has no value then, and is still there", async () => {
    const calls = await openCalls(["by-id"]);
    expect(await clear(calls, "by-id")).toMatchObject({ status: "set", old: [1], version: "2" });
    expect(await clear(calls, "by-id")).toMatchObject({ status: "set", old: null, version: "3" });
  });

  test("a clear of a watermark is refused with near names where the definition doesn't have it, and makes none", async () => {
    const calls = await openCalls(["by-id", "by-day"]);
    await expectError(clear(calls, "by-Idd"), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "watermark",
      value: "did you mean `by-id`",
    });
    await expectError(clear(calls, "something"), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "watermark",
      value: "there are `by-day`, `by-id`",
    });
    expect(await calls.watermarks({ name: "import", max: 10 })).toHaveLength(2);
  });

  test("a clear of a watermark is refused where the definition has none, or isn't there", async () => {
    const calls = await openCalls([]);
    const code = "TASKGATE_ARG_UNKNOWN";
    const value = "the definition has none";
    await expectError(clear(calls, "by-id"), { code, field: "watermark", value });
    await expectError(clear(calls, "by-id", "improt"), {
      code,
      field: "definition",
      value: "did you mean `import`",
    });
  });
});
