import { createRequire } from "node:module";
import { TaskgateError } from "./errors";

/** What each package is for, where only some apps need it: such an app installs it by its own name. */
const purposes = {
  "@azure/identity": "signs in to Azure",
  "@opentelemetry/instrumentation-tedious": "shows calls of SQL Server in the trace",
  applicationinsights: "sends telemetry to Azure",
  mssql: "reaches SQL Server",
  pg: "reaches PostgreSQL",
} as const;

/** The name of a package that an app needs for what it is set to do, and not else. */
export type OptionalPackage = keyof typeof purposes;

/** The packages that are installed along with a package. */
const companions: Partial<Record<OptionalPackage, string>> = { mssql: "tedious@19" };

const load = createRequire(__filename);

/**
 * Loads an optional package, as an app installed it. Throws TaskgateError TASKGATE_PACKAGE_MISSING with the command that
 * installs it. What the package itself throws while it is loaded passes as it is.
 */
export function loadPackage<Package>(name: OptionalPackage): Package {
  if (!isInstalled(name)) {
    const command = ["npm install", name, companions[name]].filter(Boolean).join(" ");
    throw new TaskgateError(
      "TASKGATE_PACKAGE_MISSING",
      `The package ${name}, which ${purposes[name]}, is not installed: run \`${command}\``,
      { details: { package: name } },
    );
  }
  return load(name) as Package;
}

/** Can a package be loaded from here? Nothing is loaded. */
export function isInstalled(name: string): boolean {
  try {
    load.resolve(name);
    return true;
  } catch (error) {
    // Any other code is a package that is damaged: it is for the one that loads it.
    return (error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND";
  }
}
