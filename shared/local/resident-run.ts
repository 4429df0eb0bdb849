/**
 * A resident worker from its options to its end: the composition root of `taskgate work`. The app's own gate does the work,
 * with the app's settings.
 */
import { loadGate } from "./load-gate";
import { watchNpm } from "./watch-npm";

/** A database in place of the environment's, and the storage of its queues where the environment names none. */
export interface ResidentAddress {
  readonly databaseUrl: string;
  readonly storage: string | null;
}

/** How the process works. */
export interface ResidentRunOptions {
  /** null: the environment's. */
  readonly address: ResidentAddress | null;
  /** The folder with package.json. */
  readonly appRoot: string;
  readonly definitions: readonly string[] | null;
  readonly concurrency: number | null;
  readonly pollMs: number;
  readonly graceMs: number;
  /** Prints a line for people. */
  readonly say: (line: string) => void;
}

/** The signals that end a resident worker. */
const endings = ["SIGTERM", "SIGINT"] as const;

const npmAdvice =
  "npm started this process and passes no SIGTERM on to it. Where a container or a service manager ends it, start it by `node node_modules/taskgate/lib/cli/main.js work`";

/**
 * Works until SIGTERM or SIGINT, or until the npm that started it is gone, then gives back and ends. A second signal waits for
 * no handler. Throws what keeps the work from beginning.
 */
export async function runResident(options: ResidentRunOptions): Promise<void> {
  const { address, appRoot, definitions, concurrency, pollMs, graceMs, say } = options;
  if (address !== null) passOn(address);
  const gate = await loadGate(appRoot, say);
  const ending = new AbortController();
  // Handlers that still run after `graceMs` are told to stop, and what a silent database holds is left behind.
  let grace: NodeJS.Timeout | undefined;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = () => {
      gate.end().then(resolve, reject);
    };
  });
  const onSignal = (): void => {
    if (ending.signal.aborted) end();
    else grace = setTimeout(end, graceMs);
    ending.abort();
  };
  for (const signal of endings) process.on(signal, onSignal);
  if (process.env["npm_command"] !== undefined && !process.stdin.isTTY) say(npmAdvice);
  const unwatch = watchNpm(onSignal);
  try {
    const work = gate.work({
      signal: ending.signal,
      pollMs,
      graceMs,
      ...(definitions === null ? {} : { definitions }),
      ...(concurrency === null ? {} : { concurrency }),
    });
    await Promise.race([work, ended]);
  } finally {
    clearTimeout(grace);
    unwatch();
    await Promise.race([gate.end(), ended]);
    for (const signal of endings) process.off(signal, onSignal);
  }
}

/** The app reads its settings from the environment. */
function passOn({ databaseUrl, storage }: ResidentAddress): void {
  const hasStorage = Object.keys(process.env).some((name) =>
    name.startsWith("AzureWebJobsStorage"),
  );
  process.env["TASKGATE_DATABASE_URL"] = databaseUrl;
  delete process.env["TASKGATE_SQL_SERVER"];
  delete process.env["TASKGATE_SQL_DATABASE"];
  if (storage !== null && !hasStorage) process.env["AzureWebJobsStorage"] = storage;
}
