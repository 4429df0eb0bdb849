import { spawn } from "node:child_process";
import { join } from "node:path";
import { certificateFile } from "./ingestion";

const root = join(__dirname, "../..");

/** How a program ended and what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/**
 * Runs one of this folder's programs in a process of its own: telemetry changes modules for the rest of a process' life.
 * Of the environment only what Node needs, and `environment`.
 */
export async function runProgram(
  file: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = spawn(
    process.execPath,
    ["-r", "./test/support/register-swc.cjs", join(__dirname, file)],
    {
      cwd: root,
      env: {
        PATH: process.env["PATH"] ?? "",
        NODE_EXTRA_CA_CERTS: certificateFile,
        APPLICATION_INSIGHTS_NO_STATSBEAT: "true",
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString("utf8")));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, output, errors };
}
