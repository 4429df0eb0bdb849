/** Ends this process now; what it writes at this moment may be lost. */
export function exitProcess(code: number): never {
  process.exit(code);
}
