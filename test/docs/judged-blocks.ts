/** Blocks of the pages that no test runs as a whole: the file that judges each, and the reason. */
export interface JudgedBlock {
  readonly page: string;
  /** Of the block's marker. */
  readonly marker: RegExp;
  /** The commands of a shell block that don't run; the others do. Absent: the whole block. */
  readonly lines?: RegExp;
  /** The file that judges it. */
  readonly by: string;
  readonly why: string;
}

const commandWords = "test/docs/command-words.test.ts";
const azureCommands = "test/docs/azure-commands.test.ts";
const cli = "docs/reference/cli.md";
const existingApp = "docs/quickstart-existing-app.md";
const needsAzure =
  "it works on Azure: `az` and `azd` are stand-ins that note their words, and the rest of the block runs";
const tooLong = "it measures for minutes or hours: its script must exist and read the words";
const installs =
  "`npm ci` and `npm install` fetch packages of a registry, where this one isn't published";

export const judgedBlocks: readonly JudgedBlock[] = [
  {
    page: "CONTRIBUTING.md",
    marker: /^read-stop$/,
    by: "test/static/new-operation.test.ts",
    why: "a test adds the operation to a copy and compares the block with its files",
  },
  {
    page: "docs/guides/orms.md",
    marker: /./,
    by: "test/static/own-packages.test.ts",
    why: "the blocks are files of a package of its own, which `npm run test:orms` installs and runs every night",
  },
  {
    page: "docs/operate/retention.md",
    marker: /^erase-/,
    by: "test/contract/erasure.contract.ts",
    why: "a case of the contract runs the statements on every store",
  },
  {
    page: cli,
    marker: /^examples-(?!dev$|eject$|init$|work$)/,
    by: "test/functions/command-examples.test.ts",
    why: "each line runs on a database and by an app's address, with an answer of its own that is expected",
  },
  {
    page: cli,
    marker: /^examples-dev$/,
    lines: /^taskgate dev(?: --db .*)?$/,
    by: "test/docs/local-host.test.ts",
    why: "the two lines run until they are ended, on port 7071; the page of the local host has the same command",
  },
  {
    page: cli,
    marker: /^examples-eject$/,
    lines: /--name billing$/,
    by: "test/package/eject-suite.ts",
    why: "an app is made of a copy once: by the same line of the guide",
  },
  {
    page: "docs/guides/eject.md",
    marker: /^eject$/,
    lines: /^npm /,
    by: "test/package/eject-suite.ts",
    why: `${installs}; the suite links them, builds and runs the app every night`,
  },
  {
    page: "docs/guides/drop-the-sample.md",
    marker: /^the-rest$/,
    lines: /^npm (?:test|start)$/,
    by: "test/e2e/own-app.test.ts",
    why: "the copy runs the program of `npm start` on a free port, and those tests of the product that a copy can change",
  },
  {
    page: "docs/operate/resident-worker.md",
    marker: /^plain-install$/,
    lines: /^npm install /,
    by: "test/docs/plain-app.test.ts",
    why: `${installs}: the test links them`,
  },
  {
    page: existingApp,
    marker: /^pack$/,
    by: "test/package/packed.ts",
    why: "it writes into the checkout, whose build other tests use: the same two programs pack into a folder of a test",
  },
  {
    page: existingApp,
    marker: /^install$/,
    lines: /^npm install /,
    by: "test/docs/existing-app-quickstart.test.ts",
    why: `${installs}: test/package installs a tarball of its own`,
  },
  {
    page: existingApp,
    marker: /^template$/,
    lines: /^npm run build$/,
    by: "test/docs/existing-app-quickstart.test.ts",
    why: "the checkout is built: other tests use the same build at that time",
  },
  {
    page: existingApp,
    marker: /^run-app$/,
    by: "test/package/init-suite.ts",
    why: "the run takes port 7071 until it is ended: the suite builds an app and runs it on a free port",
  },
  {
    page: "docs/quickstart-pipeline.md",
    marker: /^pipeline-start$/,
    by: commandWords,
    why: "the run takes port 7071 until it is ended: every night test/e2e runs its program on a free port",
  },
  {
    page: "docs/operate/local.md",
    marker: /^another-host$/,
    lines: /^func start$/,
    by: "test/docs/local-host.test.ts",
    why: "`func` is a part of the Azure Functions Core Tools, which npm's lock doesn't have",
  },
  {
    page: "CONTRIBUTING.md",
    marker: /^gate$/,
    by: commandWords,
    why: "it is the gate, which runs this test",
  },
  {
    page: "README.md",
    marker: /^start$/,
    by: commandWords,
    why: "test/e2e and test/sample run the program of `npm start` on a free port",
  },
  ...["bench", "peers", "flames", "soak"].map((marker) => ({
    page: "docs/benchmarks/README.md",
    marker: new RegExp(`^${marker}$`),
    by: commandWords,
    why: tooLong,
  })),
  {
    page: "infra/README.md",
    marker: /^bicep$/,
    by: commandWords,
    why: "it is a step of the gate, which needs Microsoft's compiler",
  },
  {
    page: "docs/operate/deploy.md",
    marker: /^sql-server$/,
    by: azureCommands,
    why: "it needs Docker and an image of SQL Server: `docker` and `npm` are stand-ins that note their words",
  },
  ...[
    ["README.md", "azure"],
    ["docs/guides/events.md", "send-by-az"],
    ["docs/guides/events.md", "event-grid"],
    ["docs/operate/deploy.md", "azure"],
    ["docs/operate/security.md", "entra"],
    ["docs/operate/security.md", "forged"],
    ["docs/operate/security.md", "scope"],
    ["docs/operate/security.md", "token"],
    [cli, "over-http"],
    ["infra/README.md", "what-if"],
    ["infra/README.md", "deploy"],
    ["infra/README.md", "migrate"],
    ["infra/README.md", "production"],
  ].map(([page = "", marker = ""]) => ({
    page,
    marker: new RegExp(`^${marker}$`),
    by: azureCommands,
    why: needsAzure,
  })),
];
