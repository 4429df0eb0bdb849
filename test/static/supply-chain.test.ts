import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";

/*
 * Goal: a package of others is pinned, has a reason and a licence that allows its use, and runs nothing while it is
 * installed. Each check is a function of texts, so that it can be shown to find a fault in them.
 */

const root = join(__dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
}

const lockText = read("package-lock.json");
const packageFile = JSON.parse(read("package.json")) as {
  dependencies: Record<string, string>;
  workspaces: string[];
};
const workflows = globSync([".github/workflows/*.yml"], { cwd: root, dot: true }).sort();

/** Packages without a checksum, or from elsewhere than the registry; workspaces are of this repository. */
function strangers(text: string): string[] {
  const { packages } = JSON.parse(text) as { packages: Record<string, Locked> };
  return Object.entries(packages)
    .filter(([path]) => path !== "" && !isWorkspace(path))
    .filter(([, { link, resolved = "" }]) => link !== true || !isWorkspace(resolved))
    .filter(
      ([, { integrity = "", resolved, link }]) =>
        link === true ||
        !integrity.startsWith("sha512-") ||
        (resolved !== undefined && !resolved.startsWith("https://registry.npmjs.org/")),
    )
    .map(([path]) => path);
}

function isWorkspace(path: string): boolean {
  return packageFile.workspaces.includes(path);
}

/** Names in package.json that aren't one exact version. */
const loose = (dependencies: Record<string, string>): string[] =>
  Object.entries(dependencies)
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name]) => name);

/** Lines of a workflow or script that take what can be changed behind our back, or run what a package brings. */
function unpinned(text: string): string[] {
  return text.split("\n").filter((line) => {
    const used = /\buses: *(\S+)/.exec(line)?.[1];
    if (used !== undefined) return !/^[\w./-]+@[0-9a-f]{40}$/.test(used);
    if (/mcr\.microsoft\.com|docker\.io|ghcr\.io/.test(line))
      return !/@(sha256:[0-9a-f]{64}|\$\{\{ matrix\.digest \}\})/.test(line);
    if (/^\s*digest:/.test(line)) return !/sha256:[0-9a-f]{64}\b/.test(line);
    return /\bnpm (ci|install|i)\b/.test(line) && !line.includes("--ignore-scripts");
  });
}

const allowed = new Set(["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "0BSD"]);

/** Rows of THIRD-PARTY.md: name, version, licence. */
const listedRows = (page: string): string[] =>
  (/```text\n([^`]*)```/.exec(page)?.[1] ?? "").split("\n").filter((row) => row !== "");

/** Those whose licence isn't among the ones that ask for nothing but their own text. */
const refusedLicences = (page: string): string[] =>
  listedRows(page).filter((row) => !allowed.has(row.split(" ").slice(2).join(" ")));

/** Rows of the table of reasons: package, what it is for, what it saves. */
function reasons(page: string): [name: string, reason: string][] {
  const table = page.slice(page.indexOf("## Runtime dependencies"));
  return [...table.matchAll(/^\| *(@?[a-z][\w./-]+) *\| *([^|]*?) *\| *([^|]*?) *\|$/gm)]
    .filter(([, name]) => name !== "package")
    .map(([, name = "", reason = "", saved = ""]) => [name, reason && saved]);
}

describe("packages", () => {
  test("the packages are locked with a checksum, all of them from the registry", () => {
    expect(strangers(lockText)).toEqual([]);
    expect(strangers(lockText.replace(/sha512-/, "sha1-"))).toHaveLength(1);
    const elsewhere = {
      packages: {
        "node_modules/x": { integrity: "sha512-x", resolved: "git+ssh://x" },
        "node_modules/y": { resolved: "../y", link: true },
      },
    };
    expect(strangers(JSON.stringify(elsewhere))).toEqual(["node_modules/x", "node_modules/y"]);
  });

  test("the packages that are deployed are named by one exact version", () => {
    expect(loose(packageFile.dependencies)).toEqual([]);
    expect(loose({ a: "^1.0.0", b: "1.x", c: "github:a/b", d: "1.0.0" })).toEqual(["a", "b", "c"]);
  });

  test("the packages that are deployed have each their reason in architecture.md, and no other has", () => {
    const rows = reasons(read("docs/internals/architecture.md"));
    expect(rows.map(([name]) => name)).toEqual(Object.keys(packageFile.dependencies).sort());
    expect(rows.filter(([, reason]) => reason.length < 8)).toEqual([]);
  });

  test("the packages have their licences listed as the lock file has them, none that asks for more than its text", () => {
    const page = execFileSync(process.execPath, [join(root, ".ci/third-party.cjs"), "--print"], {
      encoding: "utf8",
    });
    expect(read("THIRD-PARTY.md")).toBe(page);
    expect(listedRows(page).length).toBeGreaterThan(200);
    expect(refusedLicences(page)).toEqual([]);
    expect(refusedLicences("```text\na 1.0.0 GPL-3.0\nb 1.0.0 MIT\n```")).toEqual([
      "a 1.0.0 GPL-3.0",
    ]);
  });

  test("the packages are told by npm as a bill of materials in CycloneDX, the same that are listed", () => {
    const text = execFileSync(process.execPath, [join(root, ".ci/sbom.cjs")], {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    const bill = JSON.parse(text) as {
      bomFormat: string;
      metadata: { component: { name: string } };
      components: { purl: string }[];
    };
    expect([bill.bomFormat, bill.metadata.component.name]).toEqual(["CycloneDX", "taskgate"]);
    const told = bill.components.map(({ purl }) =>
      decodeURIComponent(purl.slice("pkg:npm/".length)).replace(/@([^@]+)$/, " $1"),
    );
    expect([...new Set(told)].sort()).toEqual(
      listedRows(read("THIRD-PARTY.md"))
        .map((row) => row.split(" ").slice(0, 2).join(" "))
        .sort(),
    );
  });
});

describe("what builds and tests", () => {
  test.each([...workflows, ".ci/run", "README.md", "CONTRIBUTING.md"])(
    "%s takes actions by hash and images by digest, and installs without scripts",
    (path) => {
      const isDoc = path.endsWith(".md");
      // People who try SQL Server out take its newest image.
      expect(unpinned(read(path)).filter((line) => !isDoc || line.includes("npm"))).toEqual([]);
    },
  );

  test.each([
    "      - uses: actions/checkout@v5",
    "      - uses: actions/checkout@main # v5.0.0",
    '            "mcr.microsoft.com/mssql/server:2022-latest"',
    "            digest: latest",
    "      - run: npm ci --no-progress",
    "npm install",
  ])("a line such as `%s` is found", (line) => {
    expect(unpinned(line)).toEqual([line]);
  });

  test("a package's own scripts run neither with npm 10 nor with a later one", () => {
    expect(read(".npmrc")).toMatch(/^ignore-scripts=true$/m);
  });

  test("workflows begin without rights, and none runs a stranger's pull request with ours", () => {
    for (const path of workflows) {
      expect([path, read(path)]).toEqual([path, expect.stringMatching(/^permissions: \{\}$/m)]);
      expect([path, read(path).includes("pull_request_target")]).toEqual([path, false]);
    }
  });

  test("one of the workflows audits, reviews, tells the parts and attests the origin of the deployed package", () => {
    const text = read(".github/workflows/supply-chain.yml");
    for (const step of [
      /^ +run: npm audit --omit=dev --audit-level=moderate$/m,
      /^ +- run: npm audit signatures$/m,
      /uses: actions\/dependency-review-action@/,
      /npm run --silent sbom > sbom\.cdx\.json/,
      /uses: actions\/attest-build-provenance@[^]*subject-path: \|\s+taskgate\.tar\.gz\s+sbom\.cdx\.json/,
    ])
      expect(text).toMatch(step);
    const watched = [...read(".github/dependabot.yml").matchAll(/package-ecosystem: (\S+)/g)];
    expect(watched.map(([, name]) => name)).toEqual(["npm", "github-actions"]);
  });
});
