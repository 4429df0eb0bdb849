import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type * as HostChildren from "../../shared/local/host-children";
import { ensureBuilt, root } from "../functions/built-app";
import { poll } from "./fixtures/host-setup";

test("a host in a process of its own reports each end of a timer, with the message of its error", async () => {
  ensureBuilt();
  const path = join(root, "dist/shared/local/host-children.js");
  const { startHostChild } = createRequire(__filename)(path) as typeof HostChildren;
  const appRoot = join(__dirname, "fixtures/failing-timer");
  const { PATH, HOME } = process.env;
  const reports: HostChildren.TimerReport[] = [];
  const host = await startHostChild(
    { appRoot, port: 0, env: { PATH, HOME }, runsTimers: true },
    () => undefined,
    (report) => reports.push(report),
  );
  try {
    await poll(() => (reports.length > 1 ? true : undefined));
  } finally {
    await host.stop();
  }
  expect(reports.slice(0, 2)).toEqual([
    { kind: "timer", name: "tick", failure: "the first run fails" },
    { kind: "timer", name: "tick", failure: null },
  ]);
});
