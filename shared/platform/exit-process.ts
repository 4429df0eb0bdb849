/** Ends this process now; what it writes at this moment may be lost. */
export function exitProcess(code: number): never {
  process.exit(code);
}

/** Ends this process from any of its threads, also when its event loop is blocked; no handler runs any more. */
export function killProcess(): void {
  process.kill(process.pid, "SIGKILL");
}
