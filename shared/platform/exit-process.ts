/** Ends this process now; what it writes at this moment may be lost. */
export function exitProcess(code: number): never {
  process.exit(code);
}

/** Ends this process from any of its threads, whatever its event loop does; nothing in it is heard any more. */
export function killProcess(): void {
  process.kill(process.pid, "SIGKILL");
}
