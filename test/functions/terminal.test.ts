import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { bashWords } from "../support/bash";
import { enqueue } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { ensureBuilt, root } from "./built-app";
import { fewOf } from "../support/whole";

// Goal: what a person at a terminal gets from the program itself: questions before what can't be undone, colours, and
// completion; from a database and from an app over HTTP alike. Method: `script` gives the program a real terminal; bash and zsh run
// the completion's own script, for the command and for `npx taskgate`: the real npx finds the program in the folder of an app.
let target: Record<string, string>;
let api: ApiSetup;
let folder: string;

beforeAll(async () => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), "taskgate-terminal-"));
  const program = join(root, "dist/shared/cli/main.js");
  const installed = join(folder, "node_modules/.bin");
  mkdirSync(installed, { recursive: true });
  for (const path of [join(folder, "taskgate"), join(installed, "taskgate")]) {
    writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
    chmodSync(path, 0o755);
  }
  api = await setupApi();
  await api.register("greet");
  await api.register("import orders");
  await api.register(hostileName);
  await api.register("clears\u001b[2J the screen");
}, 180_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});

/** A shell that takes it for words of its own makes a file. */
const hostileName = '$(touch "$HOME/ran");`touch "$HOME/ran"`';

async function shell(line: string, variables: Record<string, string> = {}): Promise<string> {
  const { PATH = "" } = process.env;
  const env = { PATH: `${folder}:${PATH}`, HOME: folder, TERM: "xterm", ...variables };
  const options = { cwd: folder, env: { ...env, ...target }, encoding: "utf8" } as const;
  const { stdout } = await promisify(execFile)("bash", bashWords(line), options);
  return stdout;
}

/** The same in a terminal, in which `typed` is typed; behind the output stands the exit code. */
function terminal(line: string, typed = "", variables = {}): Promise<string> {
  const inner = `${line}; echo "code $?"`;
  const quoted = inner.replaceAll("'", String.raw`'\''`);
  return shell(
    `(sleep 1; printf '${typed}\\n'; sleep 1) | script -qec '${quoted}' /dev/null`,
    variables,
  );
}

/** What each shell offers for the words, the last of which is being typed. */
const cases: readonly (readonly [words: string, offered: readonly string[]])[] = [
  ["taskgate re", ["redrive", "replay", "reschedule", "resume"]],
  ["taskgate --db x sta", ["stamp", "statistics", "status"]],
  ["taskgate --url x sta", ["stamp", "statistics", "status"]],
  ["taskgate status --ur", ["--url"]],
  ["taskgate tasks --sta", ["--state"]],
  ["taskgate tasks greet --state de", ["dead"]],
  ["taskgate tasks g", ["greet"]],
  ["taskgate tasks im", ["import orders"]],
  [String.raw`taskgate tasks import\ o`, ["import orders"]],
  ["taskgate tasks ''", [hostileName, "greet", "import orders"]],
  ["taskgate reschedule n", ["now"]],
  ["taskgate limit greet c", ["code"]],
  ["taskgate enqueue greet --format n", ["ndjson"]],
  ["taskgate stats g", ["greet"]],
  ["taskgate stats greet --window w", ["week"]],
  ["taskgate help wa", ["watermark", "watermarks"]],
  ["npx taskgate re", ["redrive", "replay", "reschedule", "resume"]],
  ["npx -y taskgate tasks greet --state de", ["dead"]],
  ["npx taskgate tasks im", ["import orders"]],
  ["npx ta", ["another"]],
  ["npx tasks re", ["another"]],
];

describe.each(fewOf(["a database", "the address of an app"]))("with %s", (place) => {
  beforeAll(async () => {
    target =
      place === "a database"
        ? { TASKGATE_DATABASE_URL: api.operatorUrl }
        : { TASKGATE_URL: await api.appUrl() };
  });

  describe("on a terminal", () => {
    test("cancel asks with the ids of the tasks, and only y goes on", async () => {
      const [id = ""] = await enqueue(api.store, "greet", 1);
      const call = `taskgate cancel ${id}`;
      const no = await terminal(call, "n");
      expect(no).toContain(`Cancels 1 task (${id}). A waiting task ends for good`);
      expect(no).toMatch(/Nothing was changed\.\r\ncode 1/);
      expect(await terminal(call, "y")).toMatch(/1 task is cancelled: \d+\r\ncode 0/);
    });

    test("limit 0 asks with what it stops; --yes doesn't ask", async () => {
      const asked = await terminal("taskgate limit greet 0", "n");
      expect(asked).toContain(
        "Limit 0: no task of greet starts any more; 0 running tasks finish. Go on?",
      );
      expect((await api.admin.definitions("greet"))[0]?.limit).toBe(4);
      const told = await terminal("taskgate limit greet 0 --yes");
      expect(told).not.toContain("Go on?");
      expect(told).toContain("The limit of greet is 0, it was 4.");
      await shell("taskgate limit greet code");
    });

    test("owner asks where another app loses the definition; without one, and with --yes, it doesn't ask", async () => {
      const first = await terminal("taskgate owner greet billing");
      expect(first).not.toContain("Go on?");
      const asked = await terminal("taskgate owner greet shipping", "n");
      expect(asked).toContain(
        "Hands greet over to shipping: workers of billing start none of its tasks any more. Go on?",
      );
      expect((await api.admin.definitions("greet"))[0]?.app).toBe("billing");
      expect(await terminal("taskgate owner greet billing")).not.toContain("Go on?");
      const told = await terminal("taskgate owner greet shipping --yes");
      expect(told).not.toContain("Go on?");
      expect(told).toContain("greet belongs to shipping, it was billing's.");
      await shell("taskgate owner greet --release");
    });

    test("status is coloured, unless NO_COLOR or --no-color says otherwise", async () => {
      const escape = "\u001b[";
      expect(await terminal("taskgate status")).toContain(escape);
      expect(await terminal("taskgate status", "", { NO_COLOR: "1" })).not.toContain(escape);
      expect(await terminal("taskgate status --no-color")).not.toContain(escape);
      expect(await shell("taskgate status")).not.toContain(escape);
      expect(await shell("taskgate status", { FORCE_COLOR: "1" })).toContain(escape);
    });
  });

  test("a command without a terminal asks nothing", async () => {
    const [id = ""] = await enqueue(api.store, "greet", 1);
    expect(await shell(`taskgate cancel ${id} < /dev/null`)).toBe(`1 task is cancelled: ${id}\n`);
  });

  test("an error shows a stored name without its control characters", async () => {
    const told = await shell("taskgate definitions 'clears[2J the screen' 2>&1 || true");
    expect(told).toContain("`clears [2J the screen`");
    expect(told).not.toMatch(/[^\P{Cc}\n]/u);
  });

  describe("completion", () => {
    test("bash offers what fits, and leaves other words behind npx to the completion that was there", async () => {
      const asked = cases.map(
        ([words]) => `COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=()
          registered=$(complete -p "\${COMP_WORDS[0]}"); registered=\${registered#*-F }
          "\${registered%% *}" "\${COMP_WORDS[0]}" && eval "printf '%s\\n' \${COMPREPLY[*]}"
          echo ==`,
      );
      const told = await shell(`_another() { COMPREPLY=("another"); }
        complete -o nospace -F _another npx
        eval "$(taskgate completion bash)"; eval "$(taskgate completion bash)"
        [[ $(complete -p npx) == *"-o nospace -F _taskgate_npx npx" ]] && complete -p taskgate >&2
        ${asked.join("\n")}`);
      const lists = told.split("==\n").map((lines) => lines.trim().split("\n").sort());
      expect(cases.map(([words], index) => [words, lists[index]])).toEqual(
        cases.map(([words, offered]) => [words, [...offered]]),
      );
    });

    test("no name of a definition is run", () => {
      expect(existsSync(join(folder, "ran"))).toBe(false);
    });

    const zsh = ["/usr/bin/zsh", "/bin/zsh"].find((path) => existsSync(path));
    const testZsh = zsh === undefined ? test.skip : test;
    testZsh.each(cases)("zsh offers for `%s`", async (words, offered) => {
      const script = `typeset -A _comps; compdef() { _comps[$2]=$1; }
        compadd() { shift; print -l -- \${(M)@:#$typed*}; }
        _another() { print -- "another"; }; compdef _another npx
        eval "$(taskgate completion zsh)"; eval "$(taskgate completion zsh)"
        words=(${words}); CURRENT=\${#words}; \${_comps[\${words[1]}]}`;
      const lines = await shell(`exec ${zsh ?? ""} -f -c "$SCRIPT"`, { SCRIPT: script });
      expect(lines.trim().split("\n").sort()).toEqual([...offered]);
    });

    /** What a shell shows where a person types `npx taskgate vers`, the Tab key, and Enter. */
    const typed = (interactive: string) =>
      shell(`(sleep 2; printf 'npx taskgate vers\\t'; sleep 2; printf '\\n'; sleep 4; printf 'exit\\n') |
        timeout 30 script -qec '${interactive}' /dev/null`);

    const completed = /npx taskgate version[^]*\d\.\d+\.\d/;

    test("the Tab key completes words behind `npx taskgate` in an interactive bash", async () => {
      writeFileSync(join(folder, "rc"), 'eval "$(taskgate completion bash)"\n');
      expect(await typed("bash --noprofile --rcfile rc -i")).toMatch(completed);
    });

    testZsh("the Tab key completes words behind `npx taskgate` in an interactive zsh", async () => {
      const lines = ["autoload -Uz compinit && compinit -u", 'eval "$(taskgate completion zsh)"'];
      writeFileSync(join(folder, ".zshrc"), `${lines.join("\n")}\n`);
      expect(await typed("zsh -d -i")).toMatch(completed);
    });
  });
});
