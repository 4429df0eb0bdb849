// Writes THIRD-PARTY.md: every package that is deployed, with its version and licence, as the lock file has them.
//   node .ci/third-party.cjs          writes it
//   node .ci/third-party.cjs --print  prints it; a test compares
"use strict";

const { readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..");

/** Every package that `npm ci --omit=dev` installs, sorted by name, then by version: one row for equal copies. */
function deployedPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const rows = Object.entries(packages)
    // Workspaces are tools of the tests: they lie elsewhere, and node_modules has links to them.
    .filter(([path, entry]) => path.startsWith("node_modules/") && !entry.link)
    .filter(([, entry]) => !entry.dev && !entry.devOptional)
    .map(([path, entry]) => {
      // An alias is installed under another name than its own.
      const name = entry.name ?? path.split("node_modules/").at(-1);
      return { name, version: entry.version, licence: entry.license ?? "none given" };
    });
  const keyed = new Map(rows.map((row) => [`${row.name}@${row.version}`, row]));
  const order = (a, b) => (a < b ? -1 : Number(a > b));
  return [...keyed.values()].sort((a, b) => order(a.name, b.name) || order(a.version, b.version));
}

function page() {
  const packages = deployedPackages();
  const counts = new Map();
  for (const { licence } of packages) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  const sums = [...counts].sort(([, a], [, b]) => b - a);
  return `# Third-party packages

The packages deployed beside Taskgate's own code: ${packages.length} packages of the npm registry, each with its licence's text in \`node_modules/<name>\`. Packages for development (tests, Azurite, embedded PostgreSQL, sample data) are not deployed and not listed. \`node .ci/third-party.cjs\` writes this page from the lock file; \`npm run --silent sbom\` prints the same as CycloneDX.

${sums.map(([licence, count]) => `- ${licence}: ${count}`).join("\n")}

\`\`\`text
${packages.map(({ name, version, licence }) => `${name} ${version} ${licence}`).join("\n")}
\`\`\`
`;
}

if (process.argv.includes("--print")) process.stdout.write(page());
else writeFileSync(join(root, "THIRD-PARTY.md"), page());
