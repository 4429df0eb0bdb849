import { spawn } from "node:child_process";
import { findFreePort } from "../../shared/local/free-port";
import { sleep } from "../../shared/platform/real-clock";

/**
 * The command that starts Microsoft's Functions host in the folder of an app: `func start --port {port}`, or the host's own
 * program, which reads the folder and the address from its environment.
 */
export const hostCommand = process.env["TASKGATE_TEST_FUNCTIONS_HOST"];

/** A Functions host at work. */
export interface FunctionsHost {
  readonly url: string;
  /** All that it has written. */
  log(): string;
  /** Asks it to end, as the platform does; resolves when it has ended, throws after 30 s. */
  terminate(): Promise<void>;
  /** The same, as Ctrl-C at a terminal: the host and its worker get the signal. */
  interrupt(): Promise<void>;
}

/** Starts the host; resolves when it has loaded the app. Throws an Error with its log when it ends or takes longer than 90 s. */
export async function startFunctionsHost(
  command: string,
  { folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Promise<FunctionsHost> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${String(port)}`;
  const { PATH = "", HOME = "", DOTNET_ROOT } = process.env;
  const child = spawn("sh", ["-c", `exec ${command.replaceAll("{port}", String(port))}`], {
    cwd: folder,
    env: {
      PATH,
      HOME,
      ...(DOTNET_ROOT === undefined ? {} : { DOTNET_ROOT }),
      AzureWebJobsScriptRoot: folder,
      ASPNETCORE_URLS: url,
      FUNCTIONS_WORKER_RUNTIME: "node",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    // Its own group: `func` starts the host, and the host a worker.
    detached: true,
  });
  const texts: string[] = [];
  const note = (text: Buffer): void => void texts.push(text.toString());
  child.stdout.on("data", note);
  child.stderr.on("data", note);
  const log = (): string => texts.join("");
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => {
      resolve();
    });
  });
  const group = -(child.pid ?? 0);
  const untilEnded = async (): Promise<void> => {
    const waiting = new AbortController();
    const isOver = await Promise.race([
      ended.then(() => true),
      sleep(30_000, waiting.signal).then(() => false),
    ]);
    waiting.abort();
    if (isOver) return;
    process.kill(group, "SIGKILL");
    throw new Error(`the host did not end:\n${log().slice(-4_000)}`);
  };
  const host: FunctionsHost = {
    url,
    log,
    terminate: () => {
      child.kill("SIGTERM");
      return untilEnded();
    },
    interrupt: () => {
      process.kill(group, "SIGINT");
      return untilEnded();
    },
  };
  for (let tries = 0; tries < 180; tries += 1) {
    if (child.exitCode !== null) throw new Error(`the host ended:\n${log()}`);
    if (await hasLoaded(`${url}/api/taskgate/dashboard`)) return host;
    await sleep(500);
  }
  await host.terminate();
  throw new Error(`the host did not load the app:\n${log()}`);
}

async function hasLoaded(address: string): Promise<boolean> {
  try {
    return (await fetch(address)).ok;
  } catch {
    return false;
  }
}
