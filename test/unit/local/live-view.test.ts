import { PassThrough } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { expect, test } from "@jest/globals";
import type { LiveState } from "../../../shared/local/live-frame";
import { LiveView } from "../../../shared/local/live-view";
import { chooseTheme } from "../../../shared/terminal/theme";

const picture: LiveState = {
  title: "demo",
  progress: {
    definitions: [],
    deadLetters: [],
    paced: { ended: 0, total: 0, isKnown: true, isCut: false, stopped: 0 },
    others: { ended: 0, total: 0 },
    files: null,
    batches: [],
    isSettled: false,
  },
  elapsedMs: 0,
  leftMs: null,
  pageUrl: "http://127.0.0.1:7071/api/dashboard",
  lastLine: null,
  notice: null,
  workers: [],
  failingTimers: new Map(),
  restarts: 0,
  pacedDefinition: "demo",
  hasKeys: true,
};

/** A view on a terminal of 80 x 24, and what its keys did. */
function openView(): { view: LiveView; press: (keys: string) => void; done: string[] } {
  const done: string[] = [];
  const output = Object.assign(new PassThrough(), { columns: 80, rows: 24 });
  const input = Object.assign(new PassThrough(), { setRawMode: () => input });
  const terminal = {
    output: output as unknown as WriteStream,
    input: input as unknown as ReadStream,
    theme: chooseTheme({}, {}),
  };
  const view = new LiveView(terminal, {
    onStep: (step) => done.push(`step ${String(step)}`),
    onQuit: () => done.push("quit"),
    onInterrupt: () => done.push("interrupt"),
  });
  return { view, press: (keys) => input.emit("data", Buffer.from(keys)), done };
}

test("keys before the first picture are ignored, but for Ctrl-C", () => {
  const { view, press, done } = openView();
  view.open();
  press("+--q");
  expect(done).toEqual([]);
  press("\u0003");
  expect(done).toEqual(["interrupt"]);
  view.draw(picture);
  press("+-q");
  expect(done).toEqual(["interrupt", "step 1", "step -1", "quit"]);
  view.close();
});

test("a view that is opened again has no picture yet", () => {
  const { view, press, done } = openView();
  view.open();
  view.draw(picture);
  view.close();
  view.open();
  press("-");
  expect(done).toEqual([]);
  view.close();
});
