import { spawnSync } from "node:child_process";
import { expect, test } from "@jest/globals";
import { runDoctor } from "../../../shared/admin/doctor";
import { commandWord } from "../../../shared/core/command-word";
import { realRandom } from "../../../shared/platform/real-clock";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { registration } from "../../support/builders";
import { testPosix } from "../../support/posix";

/* Goal: a command that a message tells of can be copied into a shell, whatever the names in it. */

test.each(["greet", "resize-image", "Überweisung", "日本語", "a/b", "mail@2", "50%"])(
  "%s stands in a command as it is",
  (name) => {
    expect(commandWord(name)).toBe(name);
  },
);

testPosix.each([
  ...["import orders", "$(touch pwned)", 'o\'brien "quoted" `x`', "a;b", "a&b", "a|b", "<script>"],
  ...[
    "back\\slash",
    "line\nbreak",
    "*",
    "~root",
    "#1",
    "!x",
    "-",
    "--json",
    "{a,b}",
    "it's",
    "$HOME",
  ],
])("a shell reads %j as one word", (name) => {
  const { stdout } = spawnSync("sh", ["-c", `printf '%s|' ${commandWord(name)}`], {
    encoding: "utf8",
  });
  expect(stdout).toBe(`${name}|`);
});

test("the doctor writes names that a shell would read otherwise in quotes", async () => {
  const store = new MemoryTaskStore({ clock: { now: () => 0 }, random: realRandom });
  const name = "import orders; $HOME";
  await store.registerDefinition(registration({ name }));
  await store.pauseDefinition({ name, changedBy: "test" });
  const { findings } = await runDoctor({ store, build: 1, deep: false, probes: [] });
  expect(findings.map(({ text }) => text)).toContain(
    "Paused by an operator; 0 tasks wait. `taskgate resume 'import orders; $HOME'` lets them run.",
  );
});
