import type { ServiceExit } from "./supervised-service";

/** What every good start says: no reason for an end. */
const startUp =
  /^server starting$|ready to accept connections|successfully listens|is starting at|listening on|starting PostgreSQL|database system was shut down at/;

/** Why a service ended, for people: `SIGKILL`, or `exit code 1` and what it said besides its start. */
export function lastWords({ code, signal, problems }: ServiceExit, output: string): string {
  if (signal !== null) return signal;
  // Its keeper was lost, and with it what the system said.
  if (code === null) return problems.join(" ");
  const said = output
    .split("\n")
    .filter((line) => line.trim() !== "" && !startUp.test(line))
    .join("\n")
    .trim();
  return said === "" ? `exit code ${String(code)}` : `exit code ${String(code)}: ${said}`;
}
