import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runCli } from "../../shared/cli/main";

/** A folder of a test, with what `taskgate init` says in it. */
export interface InitFolder {
  readonly root: string;
  write(files: Readonly<Record<string, string | object>>): void;
  read(path: string): string;
  /** Every file below the folder with its text, in the order of the paths. */
  all(): Readonly<Record<string, string>>;
  /** Runs `taskgate init` with these options. `answer`: the typed text; absent: there is no terminal. */
  init(words: readonly string[], answer?: string): Promise<InitEnd>;
  remove(): void;
}

/** How the command ended. */
export interface InitEnd {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
  readonly questions: readonly string[];
}

/** Makes an empty folder. */
export function makeFolder(): InitFolder {
  const root = mkdtempSync(join(tmpdir(), "taskgate-init-"));
  return {
    root,
    write: (files) => {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
        writeFileSync(join(root, path), text);
      }
    },
    read: (path) => readFileSync(join(root, path), "utf8"),
    all: () =>
      Object.fromEntries(
        readdirSync(root, { recursive: true })
          .map(String)
          .filter((path) => statSync(join(root, path)).isFile())
          .sort()
          .map((path) => [path.split("\\").join("/"), readFileSync(join(root, path), "utf8")]),
      ),
    init: async (words, answer) => {
      const questions: string[] = [];
      let output = "";
      let errors = "";
      const code = await runCli({
        words: ["init", ...words],
        environment: {},
        folder: root,
        output: {
          line: (text) => (output += `${text}\n`),
          error: (text) => (errors += `${text}\n`),
          columns: null,
        },
        ...(answer === undefined
          ? {}
          : {
              ask: (question: string) => {
                questions.push(question);
                return Promise.resolve(answer);
              },
            }),
      });
      return { code, output, errors, questions };
    },
    remove: () => {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const host = { version: "2.0" };

/** As `func init --typescript` and `func new` write it. */
export const typeScriptApp = {
  "package.json": {
    name: "billing",
    version: "1.0.0",
    main: "dist/src/{index.js,functions/*.js}",
    scripts: { build: "tsc", start: "func start" },
    dependencies: { "@azure/functions": "^4.0.0" },
    devDependencies: { "@types/node": "20.x", typescript: "^4.0.0" },
  },
  "tsconfig.json":
    '{\n  "compilerOptions": {\n    "module": "commonjs", // as the host wants it\n    "target": "es6",\n    "outDir": "dist",\n    "rootDir": ".",\n    "sourceMap": true,\n    "strict": false,\n  }\n}\n',
  "host.json": host,
  "src/index.ts": 'import { app } from "@azure/functions";\napp.setup({});\n',
  "src/functions/notify.ts":
    'import { app } from "@azure/functions";\napp.storageQueue("notify", { queueName: "q", connection: "AzureWebJobsStorage", handler: () => {} });\n',
};

/** As `func init --javascript` writes it. */
export const javaScriptApp = {
  "package.json": {
    name: "shipping",
    main: "src/functions/*.js",
    dependencies: { "@azure/functions": "^4.0.0" },
  },
  "host.json": host,
  "src/functions/notify.js":
    'const { app } = require("@azure/functions");\napp.timer("sweep", { schedule: "0 0 * * * *", handler: () => {} });\n',
};
