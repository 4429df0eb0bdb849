import { describe, expect, test } from "@jest/globals";
import { describeThrown } from "../../../shared/core/describe-thrown";
import { limits } from "../../../shared/core/limits";
import { RetryLater } from "../../../shared/core/task-failure";

// Goal: the kept text of an error has name, message, stack and causes, whatever was thrown, and never more than 4,000 characters.
const lengthMax = limits.errorLengthMax;

function withStack(message: string, stack: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? {} : { cause });
  error.stack = `Error: ${message}\n${stack}`;
  return error;
}

test("an error is told by name, message and stack, its message once", () => {
  const told = describeThrown(withStack("it broke", "    at work (a.ts:1:2)"));
  expect(told).toBe("Error: it broke\n    at work (a.ts:1:2)");
});

test("nested causes stand below the message, their stacks below its own", () => {
  const root = withStack("no route", "    at connect (net.ts:1:1)");
  root.name = "SocketError";
  const middle = withStack("no answer", "    at ask (http.ts:2:2)", root);
  const told = describeThrown(withStack("the order failed", "    at run (task.ts:3:3)", middle));
  expect(told.split("\n")).toEqual([
    "Error: the order failed",
    "caused by Error: no answer",
    "caused by SocketError: no route",
    "    at run (task.ts:3:3)",
    "stack of cause 1:",
    "    at ask (http.ts:2:2)",
    "stack of cause 2:",
    "    at connect (net.ts:1:1)",
  ]);
});

test("a described error tells five causes at most, and that there are others", () => {
  let error = new Error("cause 9");
  for (let at = 8; at >= 0; at -= 1) error = new Error(`cause ${String(at)}`, { cause: error });
  const told = describeThrown(error);
  expect(told.match(/^caused by Error/gm)).toHaveLength(5);
  expect(told).toContain("caused by Error: cause 5\ncaused by errors that aren't told here");
});

test("a circle of causes ends", () => {
  const first = new Error("first");
  const second = new Error("second", { cause: first });
  first.cause = second;
  expect(describeThrown(first)).toContain(
    "Error: first\ncaused by Error: second\ncaused by one of these errors: a circle\n",
  );
  const own = new Error("own");
  own.cause = own;
  expect(describeThrown(own)).toContain("caused by one of these errors: a circle");
});

test.each([
  ["a text", 'the text "a text"'],
  [{ code: "ECONNRESET" }, "an object"],
  [null, "null"],
  [7, "7"],
  [Symbol("s"), "Symbol(s)"],
])("a cause that is %p and no error is named", (cause, expected) => {
  expect(describeThrown(new Error("outer", { cause }))).toContain(
    `Error: outer\ncaused by ${expected}\n`,
  );
});

test("an AggregateError tells its first errors and counts the others", () => {
  const errors = [new TypeError("one"), "two", new Error("three"), new Error("four"), 5];
  const told = describeThrown(new AggregateError(errors, "none of them answered"));
  expect(told).toContain(
    'AggregateError: none of them answered\nwith TypeError: one\nwith the text "two"\nwith Error: three\nand 2 others\n',
  );
  const hostile = new AggregateError([]);
  Object.defineProperty(hostile, "errors", { value: Proxy.revocable([], {}).proxy });
  expect(describeThrown(hostile)).toContain("AggregateError");
});

describe("a text of 4,000 characters", () => {
  const long = (mark: string): string =>
    `    at first${mark} (a.ts)\n${"    at between (b.ts)\n".repeat(5_000)}    at last${mark} (c.ts)`;

  test("a text of 4,000 characters holds the beginning and the end of a stack of 100,000 characters", () => {
    const told = describeThrown(withStack("it broke", long("")));
    expect(told.length).toBeLessThanOrEqual(lengthMax);
    expect(told.length).toBeGreaterThan(lengthMax - 10);
    expect(told).toMatch(/^Error: it broke\n {4}at first \(a\.ts\)/);
    expect(told).toMatch(/\n {4}\.\. 110\d{3} characters in all \.\.\n/);
    expect(told).toMatch(/at last \(c\.ts\)$/);
  });

  test("a text of 4,000 characters holds every cause and a part of each stack, however long they are", () => {
    const root = withStack("r".repeat(5_000), long("3"));
    const middle = withStack("the middle", "    at short (d.ts)", root);
    const told = describeThrown(withStack("m".repeat(9_000), long("1"), middle));
    expect(told.length).toBeLessThanOrEqual(lengthMax);
    expect(told).toMatch(/^Error: m{1000}/);
    expect(told).toContain("caused by Error: the middle\ncaused by Error: rrr");
    for (const title of ["stack of cause 1:\n    at short (d.ts)\n", "stack of cause 2:\n"])
      expect(told).toContain(title);
  });

  test("a text of 4,000 characters holds the causes of an error with a message of 100,000 characters", () => {
    const cause = new Error("the cause");
    const told = describeThrown(new Error("m".repeat(100_000), { cause }));
    expect(told.length).toBeLessThanOrEqual(lengthMax);
    expect(told).toContain(" ..\ncaused by Error: the cause\n");
  });

  test("a text of 4,000 characters holds six AggregateErrors in each other, all with long messages", () => {
    let error: Error = new Error("x".repeat(9_000));
    for (let at = 0; at < 7; at += 1)
      error = new AggregateError([error, error, error, error], "y".repeat(9_000), { cause: error });
    const told = describeThrown(error);
    expect(told.length).toBeLessThanOrEqual(lengthMax);
    expect(told).toContain("caused by errors that aren't told here");
  });
});

test("half surrogate pairs and U+0000 are replaced, also where a cut makes them", () => {
  const emoji = "😀".repeat(60_000);
  for (const message of [`a\ud83d b\u0000`, emoji, `x${emoji}`]) {
    const cause = withStack(message, `    at ${emoji}`);
    const told = describeThrown(withStack(message, `    at ${emoji}`, cause));
    expect(told.length).toBeLessThanOrEqual(lengthMax);
    expect(told.isWellFormed()).toBe(true);
    expect(told).not.toContain("\u0000");
  }
});

test("a deliberate failure's name is its class's, and its stack has no second message", () => {
  const told = describeThrown(new RetryLater(1_000, "the partner is away", new Error("503")));
  expect(told).toMatch(/^RetryLater: the partner is away\ncaused by Error: 503\n {4}at /);
  expect(told.match(/the partner is away/g)).toHaveLength(1);
});

test.each([
  ["a text", "a text", "a text"],
  ["nothing", undefined, "thrown: undefined"],
  ["an object", { a: 1 }, 'thrown: {"a":1}, no Error'],
])("%s that is thrown is named", (_, thrown, expected) => {
  expect(describeThrown(thrown)).toBe(expected);
});

test("an error whose members throw or are no texts is told as far as it can be read", () => {
  const hostile = new Proxy(new Error("unread"), {
    get: () => {
      throw new Error("no");
    },
  });
  expect(describeThrown(hostile)).toBe("(its name can't be read): (its message can't be read)");
  const proxy = Proxy.revocable(new Error("x"), {});
  proxy.revoke();
  expect(describeThrown(proxy.proxy)).toMatch(/^thrown: /);
});
