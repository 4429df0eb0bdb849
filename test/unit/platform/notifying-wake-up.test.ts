import { beforeEach, expect, test } from "@jest/globals";
import { NotifyingWakeUp } from "../../../shared/platform/notifying-wake-up";
import { HandTime } from "./hand-time";

let time = new HandTime();
let sent: { definition: string; tasks: number; atMs: number }[] = [];
let hints: string[] = [];
let waiting = 1;

beforeEach(() => {
  time = new HandTime();
  [sent, hints, waiting] = [[], [], 1];
});

function open(): NotifyingWakeUp {
  return new NotifyingWakeUp({
    hints: { hint: async (definition) => void hints.push(definition) },
    store: () => ({
      notifyWaiting: async (definition, tasks) => {
        sent.push({ definition, tasks, atMs: time.nowMs });
        if (waiting < 0) throw new Error("away");
        return Math.min(waiting, tasks);
      },
    }),
    clock: time.clock,
    timers: time.timers,
  });
}

test("the first notification goes out at once, those of the next 5 ms become one, for all their tasks", async () => {
  const wakeUp = open();
  await wakeUp.hint("mail", { tasks: 2 });
  const following = [wakeUp.hint("mail", { tasks: 3 }), wakeUp.hint("mail", { tasks: 4 })];
  await wakeUp.hint("other", { tasks: 1 });
  await time.passTo(1_004);
  expect(sent.map(({ definition, tasks }) => [definition, tasks])).toEqual([
    ["mail", 2],
    ["other", 1],
  ]);
  await time.passTo(1_005);
  await Promise.all(following);
  expect(sent.at(-1)).toEqual({ definition: "mail", tasks: 7, atMs: 1_005 });
  expect(hints).toEqual(["mail", "mail", "mail", "other"]);
});

test("a hint looks for no process during 250 ms where none waits, and hints aren't held up", async () => {
  waiting = 0;
  const wakeUp = open();
  await wakeUp.hint("mail", { tasks: 1 });
  time.nowMs = 1_249;
  await wakeUp.hint("mail", { tasks: 1 });
  expect(sent).toHaveLength(1);
  time.nowMs = 1_250;
  await wakeUp.hint("mail", { tasks: 1 });
  expect(sent).toHaveLength(2);
  expect(hints).toHaveLength(3);
});

test("a delayed task notifies one process at once, an instant of a schedule none", async () => {
  const wakeUp = open();
  await wakeUp.hint("mail", { inMs: 60_000, tasks: 9 });
  await wakeUp.hint("report", { inMs: 60_000, forSchedule: true });
  expect(sent).toEqual([{ definition: "mail", tasks: 1, atMs: 1_000 }]);
});

test("a database that is away rejects no hint", async () => {
  waiting = -1;
  const wakeUp = open();
  await expect(wakeUp.hint("mail", { tasks: 1 })).resolves.toBeUndefined();
  expect(hints).toEqual(["mail"]);
});
