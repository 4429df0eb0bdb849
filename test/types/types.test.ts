import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import ts from "typescript";

/*
 * Goal: what the compiler says of an app's tasks. Each `@ts-expect-error` in fixtures/ stands for a mistake; one that the
 * compiler doesn't find any more is an error of its own (2578), and so is a good line that it refuses.
 */
const root = join(__dirname, "../..");
const here = join(__dirname, "fixtures");
const areas = ["payload", "result", "progress", "children", "options", "limits", "schedules"];
const doors = ["versions", "events", "client", "create-client", "gate", "transactions", "testing"];
const strictFiles = [...areas, ...doors].map((area) => join(here, "strict", `${area}.ts`));
const unusedExpectation = 2578;

const common: ts.CompilerOptions = {
  noEmit: true,
  skipLibCheck: true,
  types: ["node"],
  paths: {
    taskgate: [join(root, "shared/index.ts")],
    "taskgate/functions": [join(root, "shared/functions/index.ts")],
    "taskgate/testing": [join(root, "shared/testing/index.ts")],
  },
};
const strict: ts.CompilerOptions = {
  ...common,
  strict: true,
  exactOptionalPropertyTypes: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.Node20,
  moduleResolution: ts.ModuleResolutionKind.Node16,
};
/** As `func init` makes it. */
const loose: ts.CompilerOptions = {
  ...common,
  strict: false,
  target: ts.ScriptTarget.ES2015,
  module: ts.ModuleKind.CommonJS,
};

/** Sources are read and parsed once for all programs of the same options. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** What the compiler says of these files, with one source of Taskgate changed. */
function check(
  files: readonly string[],
  options: ts.CompilerOptions,
  change?: { file: string; from: string; to: string },
): ts.Diagnostic[] {
  const host = ts.createCompilerHost(options);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (name, languageVersion) => {
    if (change !== undefined && name === join(root, change.file)) {
      const text = ts.sys.readFile(name) ?? "";
      if (!text.includes(change.from)) throw new Error(`${change.file} has no \`${change.from}\``);
      const changed = text.replace(change.from, change.to);
      return ts.createSourceFile(name, changed, languageVersion, true);
    }
    const key = `${options.strict === true ? "strict" : "loose"} ${name}`;
    if (!parsed.has(key)) parsed.set(key, getSourceFile(name, languageVersion));
    return parsed.get(key);
  };
  const program = ts.createProgram({ rootNames: files, options, host });
  return files.flatMap((file) => {
    const source = program.getSourceFile(file);
    if (source === undefined) throw new Error(`${file} isn't there`);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  });
}

function describeDiagnostic({ file, start, code, messageText }: ts.Diagnostic): string {
  const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
  const text = ts.flattenDiagnosticMessageText(messageText, "\n");
  return `${file?.fileName.slice(here.length + 1) ?? ""}:${String(line)} ${String(code)} ${text}`;
}

function countExpectations(file: string): number {
  return (ts.sys.readFile(file) ?? "").split("// @ts-expect-error").length - 1;
}

describe("an app in strict TypeScript", () => {
  test("every area of the types has a file of mistakes, at least three each", () => {
    const found = readdirSync(join(here, "strict")).filter((name) => name !== "kinds.ts");
    expect(found.map((name) => join(here, "strict", name)).sort()).toEqual([...strictFiles].sort());
    const few = strictFiles.filter((file) => countExpectations(file) < 3);
    expect(few).toEqual([]);
  });

  test("the compiler refuses each mistake and takes each good line", () => {
    expect(check(strictFiles, strict).map(describeDiagnostic)).toEqual([]);
  });

  const define = "shared/worker/define/";
  const planted: readonly [string, { file: string; from: string; to: string }, string][] = [
    [
      "the payload",
      {
        file: `${define}task-ref.ts`,
        from: ": [payload: Input, options?: Options]",
        to: ": [payload?: unknown, options?: Options]",
      },
      "payload",
    ],
    [
      "the result",
      {
        file: `${define}define-task.ts`,
        from: "Returned extends void | undefined ? null : Returned",
        to: "Returned extends never ? never : any",
      },
      "result",
    ],
    [
      "the payload of an app's function",
      {
        file: "shared/functions/enqueue-calls.ts",
        from: "...payloadAndOptions: EnqueueArguments<TaskInput<Task>, ClientEnqueueOptions>",
        to: "...payloadAndOptions: any[]",
      },
      "gate",
    ],
    [
      "a schedule's payload",
      {
        file: `${define}kind-schedules.ts`,
        from: ": { payload: Payload }",
        to: ": { payload?: Payload }",
      },
      "schedules",
    ],
    [
      "a request's origin",
      {
        file: `${define}task-ref.ts`,
        from: 'readonly "~checked": true',
        to: 'readonly "~checked"?: true',
      },
      "events",
    ],
    [
      "a test's interruption",
      {
        file: "shared/testing/run-task-once.ts",
        from: 'as: "deadline" | "stopped" | "lost" | "cancelled"',
        to: "as: string",
      },
      "testing",
    ],
    [
      "a path into the payload",
      {
        file: "shared/core/payload-key.ts",
        from: ": PathWithin<NonNullable<Payload>, [1, 1, 1, 1]>",
        to: ": string",
      },
      "options",
    ],
  ];
  test.each(planted)(
    "a mistake without the check of %s is missed, and seen here",
    (_, change, area) => {
      const file = join(here, "strict", `${area}.ts`);
      const codes = check([file], strict, change).map(({ code }) => code);
      expect(codes).toContain(unusedExpectation);
    },
  );
});

describe("an app without strict checks, as `func init` makes it", () => {
  const app = join(here, "loose", "app.ts");

  test("the compiler still finds the mistakes that are not null", () => {
    expect(countExpectations(app)).toBeGreaterThanOrEqual(9);
    expect(check([app], loose).map(describeDiagnostic)).toEqual([]);
  });
});
