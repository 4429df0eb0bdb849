// Who may import whom (docs/internals/architecture.md). Everything not listed is an error.
const only = (from, to, comment, extra = {}) => ({
  name: `only-${from.replaceAll(/[^a-z]+/g, "-")}`,
  comment,
  severity: "error",
  from: { path: `^${from}`, ...extra },
  to: { path: "^(shared|functions|test)/", pathNot: to.map((folder) => `^${folder}`) },
});

module.exports = {
  forbidden: [
    {
      name: "no-circular",
      comment:
        "a file can be read without the files that use it, types included. The engine is an exception, since its subject is circular: in T-SQL an expression may hold a query, and a query holds expressions",
      severity: "error",
      from: { pathNot: "^test/tsql-server/engine/" },
      to: { circular: true },
    },
    only("shared/core/", ["shared/core/"], "pure decisions"),
    only(
      "shared/store/operations/",
      ["shared/core/", "shared/store/operations/"],
      "what may be asked of a store: knows no driver",
    ),
    only(
      "shared/ports/",
      ["shared/core/", "shared/store/operations/", "shared/ports/"],
      "interfaces only; the store's are those of its operations",
    ),
    only("shared/settings/", ["shared/core/", "shared/settings/"], "the environment, read once"),
    only(
      "shared/enqueue/",
      ["shared/core/", "shared/ports/", "shared/enqueue/"],
      "one way in for tasks: worker and admin add them by it",
    ),
    only(
      "shared/worker/",
      ["shared/core/", "shared/ports/", "shared/enqueue/", "shared/worker/"],
      "knows no database and no Azure",
    ),
    only(
      "shared/admin/",
      ["shared/core/", "shared/ports/", "shared/enqueue/", "shared/admin/"],
      "one implementation behind three faces",
    ),
    only(
      "shared/store/mssql/",
      [
        "shared/core/",
        "shared/ports/",
        "shared/store/mssql/",
        "shared/store/operations/",
        "shared/store/[a-z-]+\\.ts$",
      ],
      "never the other dialect",
    ),
    only(
      "shared/store/postgres/",
      [
        "shared/core/",
        "shared/ports/",
        "shared/store/postgres/",
        "shared/store/operations/",
        "shared/store/[a-z-]+\\.ts$",
      ],
      "never the other dialect",
    ),
    only(
      "shared/testing/memory-store/",
      [
        "shared/core/",
        "shared/ports/",
        "shared/testing/memory-store/",
        "shared/store/operations/",
        "shared/store/operation-store\\.ts$",
      ],
      "the executable specification",
    ),
    only(
      "shared/store/[a-z-]+\\.ts$",
      ["shared/core/", "shared/ports/", "shared/store/"],
      "the seam",
    ),
    only(
      "shared/platform/",
      ["shared/core/", "shared/ports/", "shared/settings/", "shared/platform/"],
      "implementations of ports",
    ),
    only(
      "shared/testing/",
      [
        "shared/core/",
        "shared/ports/",
        "shared/enqueue/",
        "shared/worker/",
        "shared/store/operations/",
        "shared/store/operation-store\\.ts$",
        "shared/platform/real-clock\\.ts$",
        "shared/testing/",
      ],
      "for users' tests: the worker over the store in memory, no driver",
    ),
    {
      name: "testing-in-tests-only",
      severity: "error",
      from: { path: "^(shared|functions)/", pathNot: "^shared/testing/" },
      to: { path: "^shared/testing/" },
    },
    only(
      "shared/terminal/",
      ["shared/core/", "shared/ports/", "shared/admin/listing\\.ts$", "shared/terminal/"],
      "text for a terminal",
    ),
    only(
      "shared/client/",
      [
        "shared/client/",
        "shared/core/",
        "shared/ports/",
        "shared/worker/",
        "shared/settings/",
        "shared/store/open-store\\.ts$",
        "shared/platform/",
      ],
      "a composition root: enqueue from any program",
    ),
    only(
      "shared/remote/",
      ["shared/core/", "shared/ports/", "shared/admin/", "shared/remote/"],
      "the admin of an app elsewhere: knows HTTP, no database",
    ),
    only("shared/cli/", ["shared/"], "a composition root"),
    only(
      "shared/init/",
      ["shared/core/", "shared/local/", "shared/init/"],
      "adds Taskgate to apps: knows their files, no database",
    ),
    only("shared/local/", ["shared/"], "a composition root"),
    only(
      "shared/functions/",
      [
        "shared/functions/",
        "shared/core/",
        "shared/ports/",
        "shared/worker/",
        "shared/admin/",
        "shared/settings/",
        "shared/store/open-store\\.ts$",
        "shared/platform/",
      ],
      "thin: translate, call, translate",
    ),
    only(
      "test/tsql-server/",
      ["test/tsql-server/"],
      "a product of its own: it knows nothing of ours",
    ),
    only(
      "functions/",
      ["functions/"],
      "the user's app: of the package only its doors, by their names",
    ),
    only(
      "shared/index\\.ts$",
      [
        "shared/core/",
        "shared/enqueue/",
        "shared/ports/",
        "shared/store/operations/",
        "shared/worker/",
        "shared/local/sample\\.ts$",
        "shared/client/",
        "shared/store/(from-pg|from-mssql|open-store)\\.ts$",
      ],
      "the door: loads no driver",
    ),
    {
      name: "drivers-in-their-adapters",
      severity: "error",
      from: {
        path: "^(shared|functions)/",
        pathNot: "^shared/(store/(postgres|mssql)|platform)/|^shared/store/open-store\\.ts$",
      },
      to: {
        path: "node_modules/(pg|mssql|tedious|@azure/identity|applicationinsights|@opentelemetry)/",
      },
    },
    {
      name: "functions-library-in-functions",
      severity: "error",
      from: { path: "^shared/", pathNot: "^shared/(local|functions)/" },
      to: { path: "node_modules/@azure/functions/" },
    },
    {
      name: "nothing-imports-test",
      severity: "error",
      from: { path: "^(shared|functions)/" },
      to: { path: "^test/" },
    },
    {
      name: "no-development-packages-in-the-product",
      severity: "error",
      from: { path: "^(shared|functions)/", pathNot: "^shared/local/" },
      to: { dependencyTypes: ["npm-dev"], pathNot: "node_modules/@types/" },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: {
      path: "(^dist/|/fixtures/|^test/bench/peers/|^test/orms/|shared/functions/dashboard/ui/)",
    },
  },
};
