import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { fewOf } from "../support/whole";

/*
 * Goal: what `npm run` starts for people and every night can be loaded outside of jest, and says how it is called. The drill
 * once couldn't: it shared a file with tests.
 */
const root = join(__dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: Readonly<Record<string, string>>;
};
const programs = Object.entries(scripts).flatMap(([name, script]) => {
  const [, program] = /-r \.\/test\/support\/register-swc\.cjs (\S+)$/.exec(script) ?? [];
  return program === undefined ? [] : [{ name, program }];
});

function run(program: string, word: string): { code: number | null; out: string; err: string } {
  const words = ["-r", "./test/support/register-swc.cjs", program, word];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: root,
    encoding: "utf8",
  });
  return { code: status, out: stdout, err: stderr };
}

test("the scripts that run a program of the tests are found", () => {
  expect(programs.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["bench", "chaos", "drill", "nightly", "soak", "verify"]),
  );
});

describe.each(programs)("npm run $name", ({ name, program }) => {
  test("the script prints its usage when it is asked for help", () => {
    const { code, out, err } = run(program, "--help");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(new RegExp(`^npm run ${name} --`));
  });
});

describe.each(fewOf(programs, 2))("npm run $name", ({ program }) => {
  test("the script names an option that it doesn't know, without a stack", () => {
    const { code, out, err } = run(program, "--nonsense");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^(?:error: )?Unknown option '--nonsense'/);
    expect(err).not.toMatch(/^ {4}at /m);
  });
});
