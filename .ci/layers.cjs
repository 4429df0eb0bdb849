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
        "except where the subject is: in T-SQL an expression may hold a query, and a query holds expressions",
      severity: "error",
      from: { pathNot: "^test/simulation/tsql/engine/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    only("shared/core/", ["shared/core/"], "pure decisions"),
    only("shared/ports/", ["shared/core/", "shared/ports/"], "interfaces only"),
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
      ["shared/core/", "shared/ports/", "shared/store/mssql/", "shared/store/[a-z-]+\\.ts$"],
      "never the other dialect",
    ),
    only(
      "shared/store/postgres/",
      ["shared/core/", "shared/ports/", "shared/store/postgres/", "shared/store/[a-z-]+\\.ts$"],
      "never the other dialect",
    ),
    only(
      "shared/store/model/",
      ["shared/core/", "shared/ports/", "shared/store/model/", "shared/store/check-input\\.ts$"],
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
        "shared/store/model/",
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
    only("shared/cli/", ["shared/"], "a composition root"),
    only("shared/local/", ["shared/"], "a composition root"),
    only(
      "functions/",
      [
        "functions/",
        "shared/core/",
        "shared/ports/",
        "shared/worker/",
        "shared/admin/",
        "shared/settings/",
        "shared/store/open-store\\.ts$",
        "shared/platform/",
        "shared/local/sample\\.ts$",
      ],
      "thin: translate, call, translate",
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
      from: { path: "^shared/", pathNot: "^shared/local/" },
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
    exclude: { path: "(^dist/|/fixtures/|functions/dashboard/ui/)" },
  },
};
