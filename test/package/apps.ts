import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Apps that exist before Taskgate is added to them: one queue function each. */
export interface ExistingApp {
  readonly folder: string;
  /** The queue that its function listens to. */
  readonly queue: string;
  /** Its function, as a path below `folder`. */
  readonly file: string;
  /** How that file imports `src/gate.ts`. */
  readonly gate: string;
}

/** Names of the variables of the app's environment by which it tells the test what its function does. */
export const overlapVariable = "OVERLAP_FILE";

/** What each body lasts, in ms. */
export const bodyMs = 150;

function write(folder: string, files: Readonly<Record<string, string | object>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
}

/** As `func init` and `func new` write it: the handler is a function, the registration follows it. */
const functionOf = (app: string, queue: string): string => `
import { app, InvocationContext } from "@azure/functions";
import { appendFileSync } from "node:fs";

function note(what: string): void {
  appendFileSync(process.env.${overlapVariable} ?? "", what + " ${app}\\n");
}

export async function notify(message: unknown, context: InvocationContext): Promise<void> {
  note("begin");
  context.log("calls the partner", message);
  await new Promise((resolve) => setTimeout(resolve, ${String(bodyMs)}));
  note("end");
}

app.storageQueue("notify", {
  queueName: "${queue}",
  connection: "AzureWebJobsStorage",
  handler: notify,
});
`;

const host = {
  version: "2.0",
  logging: {
    applicationInsights: { samplingSettings: { isEnabled: true, excludedTypes: "Request" } },
  },
  extensionBundle: {
    id: "Microsoft.Azure.Functions.ExtensionBundle",
    version: "[4.*, 5.0.0)",
  },
};

/** An app with the files of \`func init --typescript\`: CommonJS, ES6, not strict. Packages aren't installed. */
export function writeInitApp(
  folder: string,
  versions: Readonly<Record<string, string>>,
): ExistingApp {
  const file = "src/functions/notify.ts";
  write(folder, {
    "package.json": {
      name: "billing",
      version: "1.0.0",
      description: "",
      main: "dist/src/functions/*.js",
      scripts: {
        build: "tsc",
        watch: "tsc -w",
        clean: "rimraf dist",
        prestart: "npm run clean && npm run build",
        start: "func start",
        test: 'echo "No tests yet..."',
      },
      dependencies: { "@azure/functions": "^4.0.0" },
      devDependencies: {
        "@types/node": "18.x",
        typescript: "^5.0.0",
        rimraf: "^5.0.0",
        ...versions,
      },
    },
    "tsconfig.json": {
      compilerOptions: {
        module: "commonjs",
        target: "es6",
        outDir: "dist",
        rootDir: ".",
        sourceMap: true,
        strict: false,
        esModuleInterop: true,
      },
    },
    "host.json": host,
    [file]: functionOf("billing", "notifications"),
  });
  return { folder, queue: "notifications", file, gate: "../gate" };
}

/** A strict app of ES modules; it uses the packages in `modules`. */
export function writeModuleApp(folder: string, modules: string): ExistingApp {
  const file = "src/functions/notify.ts";
  write(folder, {
    "package.json": { name: "shipping", type: "module", main: "dist/functions/*.js" },
    "tsconfig.json": {
      compilerOptions: {
        module: "node16",
        target: "es2022",
        outDir: "dist",
        rootDir: "src",
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        types: ["node"],
      },
      include: ["src"],
    },
    "host.json": host,
    [file]: functionOf("shipping", "parcels").replace("app, Inv", "app, type Inv"),
  });
  symlinkSync(modules, join(folder, "node_modules"), "dir");
  return { folder, queue: "parcels", file, gate: "../gate.js" };
}

/** The limit that both apps share. */
export const partnerLimit = 3;

/**
 * What the user of an existing app writes: the gate, in a file of its own, and in the file of the function the import and
 * the cap.
 */
export function addLimit({ folder, file, gate }: ExistingApp): void {
  write(folder, {
    "src/gate.ts": `
import { taskgate } from "taskgate/functions";

export const gate = taskgate({ tasks: [] });
export const partnerApi = { name: "partner-api", limit: ${String(partnerLimit)} };
`,
  });
  const path = join(folder, file);
  const before = readFileSync(path, "utf8");
  const after = before
    .replace("\nimport", `\nimport { gate, partnerApi } from "${gate}";\nimport`)
    .replace(
      "handler: notify,",
      'handler: gate.limited(partnerApi, { waitMs: 60_000, overflow: "defer" }, notify),',
    );
  writeFileSync(path, after);
}
