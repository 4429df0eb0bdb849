/**
 * Runs the local services (PostgreSQL, Azurite) as children of its own, and ends them when the
 * process that asked for them is gone, however it went: by Ctrl-C, by process.exit, by kill -9.
 *
 * This is a program, started by `supervised-service.ts` in a session of its own, so that Ctrl-C at
 * a terminal never reaches it or its children. It is the *parent* of every service instead of a
 * watcher beside it: there is no moment at which a service runs unwatched. The IPC channel
 * is the lifeline: the kernel closes it when the asking process dies.
 *
 * Imports nothing but `node:` modules, because it also runs outside its folder (`node -e`).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { rm } from "node:fs/promises";
import type {
  StartRequest,
  StopStep,
  SupervisorAnswer,
  SupervisorRequest,
} from "./supervised-service";

/** Between two stop steps once the asking process is gone; three steps end within 1.5 s. */
const ORPHAN_STEP_MS = 600;
/** Windows releases the files of an ended process late; Linux and macOS need no second try. */
const REMOVE_TRIES = 5;

interface Service {
  readonly request: StartRequest;
  readonly child: ChildProcess;
  stopTimer: NodeJS.Timeout | undefined;
}

const services = new Map<number, Service>();
let isOrphan = false;

function answer(message: SupervisorAnswer): void {
  // Without a listener there is no receiver; the callback keeps a broken pipe from throwing.
  if (process.connected && process.send !== undefined) {
    process.send(message, undefined, undefined, () => undefined);
  }
}

function start(request: StartRequest): void {
  const { id } = request;
  const child = spawn(request.command, request.args, {
    cwd: request.cwd,
    env: request.env,
    ...request.user,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const service: Service = { request, child, stopTimer: undefined };
  child.once("error", (error: NodeJS.ErrnoException) => {
    if (child.pid === undefined) {
      services.delete(id);
      answer({ kind: "failed", id, code: error.code, message: error.message });
      exitWhenIdle();
    }
  });
  if (child.pid === undefined) return;
  services.set(id, service);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      answer({ kind: "output", id, text });
    });
  }
  child.once("close", (code, signal) => void ended(service, { code, signal }));
  answer({ kind: "started", id, pid: child.pid });
}

async function ended(
  service: Service,
  exit: { code: number | null; signal: NodeJS.Signals | null },
): Promise<void> {
  clearTimeout(service.stopTimer);
  const problems: string[] = [];
  for (const path of service.request.removeAfter) {
    await rm(path, { recursive: true, force: true, maxRetries: REMOVE_TRIES }).catch(
      (error: unknown) => {
        problems.push(error instanceof Error ? error.message : String(error));
      },
    );
  }
  services.delete(service.request.id);
  answer({ kind: "exited", id: service.request.id, ...exit, problems });
  exitWhenIdle();
}

/** Takes the stop steps one after the other, `stepMs` apart, until the service has ended. */
function stop(service: Service, stepMs: number): void {
  clearTimeout(service.stopTimer);
  const steps = [...service.request.stopSteps];
  const next = (): void => {
    clearTimeout(service.stopTimer);
    const step = steps.shift();
    if (step === undefined || !services.has(service.request.id)) return;
    if (typeof step === "string") service.child.kill(step);
    else runStep(service, step, next);
    service.stopTimer = setTimeout(next, stepMs);
  };
  next();
}

/** Runs a program that ends the service. Where it isn't there, the next step is taken at once. */
function runStep(
  { request }: Service,
  step: Exclude<StopStep, string>,
  whenFailed: () => void,
): void {
  const { cwd, env, user } = request;
  const options = { cwd, env, ...user, stdio: "ignore", windowsHide: true } as const;
  const child = spawn(step.command, step.args, options);
  child.once("error", whenFailed);
}

function exitWhenIdle(): void {
  if (isOrphan && services.size === 0) process.exit(0);
}

function endAll(): void {
  if (isOrphan) return;
  isOrphan = true;
  for (const service of services.values()) stop(service, ORPHAN_STEP_MS);
  exitWhenIdle();
}

process.on("message", (request: SupervisorRequest) => {
  if (request.kind === "start") {
    if (!isOrphan) start(request);
    return;
  }
  const service = services.get(request.id);
  if (service !== undefined && !isOrphan) stop(service, request.stepMs);
});
process.on("disconnect", endAll);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, endAll);
