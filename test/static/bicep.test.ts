// Goal: what infra/ would deploy keeps to the house's rules and is wired to the program.
// Method: policies over the committed snapshots, which the real Bicep compiler wrote and compares in the gate (.ci/bicep.cjs); each policy
// must find the faults planted in copies of them. Whether the Bicep compiles is the compiler's to say, not theirs.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { settingsTable } from "../../shared/settings/settings";
import { readAzureYaml } from "./bicep/azure-yaml";
import { apiParts } from "./bicep/caller-policies";
import { computeCapacity } from "./bicep/capacity";
import { plantedFaults } from "./bicep/planted-faults";
import { policies, type PolicyName } from "./bicep/policies";
import {
  theOne,
  valueAt,
  type Deployment,
  type Environment,
  type Snapshot,
} from "./bicep/snapshot";

const root = join(__dirname, "..", "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

function deploymentOf(environment: Environment): Deployment {
  const snapshot = JSON.parse(read(`infra/env/${environment}.snapshot.json`)) as Snapshot;
  return { ...snapshot, environment };
}

const deployments = { dev: deploymentOf("dev"), prod: deploymentOf("prod") };
const names = Object.keys(policies) as PolicyName[];
const planted = plantedFaults(deployments.prod);
const moduleFiles = readdirSync(join(root, "infra", "modules"));
const parameterFiles = readdirSync(join(root, "infra", "env")).filter((name) =>
  name.endsWith(".bicepparam"),
);

describe("the snapshots", () => {
  test("the snapshots are of every parameter file, without a diagnostic", () => {
    expect(parameterFiles).toEqual(Object.keys(deployments).map((name) => `${name}.bicepparam`));
    const { dev, prod } = deployments;
    expect([...dev.diagnostics, ...prod.diagnostics]).toEqual([]);
    expect(dev.predictedResources.length).toBeGreaterThan(20);
    expect(prod.predictedResources.length).toBeGreaterThan(dev.predictedResources.length);
  });
});

describe.each(Object.values(deployments))("$environment", (deployment) => {
  test.each(names)("the deployment keeps the policy: %s", (name) => {
    expect(policies[name](deployment)).toEqual([]);
  });

  test("the capacity table of infra/README.md is true", () => {
    const { tokensMax, ...of } = computeCapacity(deployment);
    const connections = `${of.connectionsMax} of ${of.connectionsAllowed}`;
    const workers = `${of.busyWorkersMax} of ${of.busyWorkersAllowed}`;
    expect(read("infra/README.md").replace(/ +/g, " ")).toContain(
      `| ${deployment.environment} | ${tokensMax} | ${connections} | ${workers} |`,
    );
  });
});

describe("the policies find", () => {
  test.each(names)("the policies find at least one planted fault each: %s", (name) => {
    expect(planted.filter(({ policy }) => policy === name)).not.toHaveLength(0);
  });

  test.each(planted)(
    "the policies find a planted fault of $environment: $title",
    ({ policy, environment, says, plant }) => {
      const faults = policies[policy](plant(deployments[environment]));
      expect(faults.join("\n")).toContain(says);
      expect(faults).not.toHaveLength(0);
    },
  );
});

describe("the files", () => {
  test("main.bicep uses every module", () => {
    const used = [...read("infra/main.bicep").matchAll(/^module \w+ 'modules\/([^']+)'/gm)];
    expect(used.map(([, name]) => name).sort()).toEqual([...moduleFiles].sort());
  });

  test("every parameter's description says whether it is required", () => {
    const paths = ["main.bicep", ...moduleFiles.map((name) => `modules/${name}`)];
    const wrong = paths.flatMap((path) => {
      let description = "";
      return read(`infra/${path}`)
        .split("\n")
        .filter((line) => {
          description = /^@description\('(.*)'\)$/.exec(line)?.[1] ?? description;
          if (!line.startsWith("param ")) return false;
          const word = line.includes(" = ") ? /^(Optional|Conditional)\. / : /^Required\. /;
          const isRight = word.test(description);
          description = "";
          return !isRight;
        });
    });
    expect(wrong).toEqual([]);
  });

  test("main.bicep opens no route that trusts the sign-in: it knows the first part of each", () => {
    const list = /^var apiParts = \[\n([^\]]+)\]/m.exec(read("infra/main.bicep"))?.[1] ?? "";
    const named = [...list.matchAll(/'([^']+)'/g)].map(([, part]) => part);
    expect(named.sort()).toEqual([...apiParts].sort());
  });

  test("the parameter files read no TASKGATE_ variable that the program would refuse", () => {
    const known: readonly string[] = settingsTable.map(({ name }) => name);
    const variables = parameterFiles
      .flatMap((name) => [...read(`infra/env/${name}`).matchAll(/Variable\('(\w+)'/g)])
      .map(([, name = ""]) => name);
    expect(variables).toContain("AZURE_ENV_NAME");
    expect(variables.filter((name) => name.startsWith("TASKGATE_"))).toEqual(
      variables.filter((name) => known.includes(name)),
    );
  });

  test("the paths of azure.yaml exist, hooks read outputs, and both shells run the same command", () => {
    const azure = readAzureYaml(read("azure.yaml"));
    expect(existsSync(join(root, azure.infraPath, `${azure.infraModule}.bicepparam`))).toBe(true);
    const outputs = Object.keys(deployments.dev.outputs);
    expect(azure.hooks.map(({ name }) => name)).toContain("postprovision");
    for (const hook of azure.hooks) {
      expect(hook.variables.filter((name) => !outputs.includes(name))).toEqual([]);
      expect(hook.windows).toEqual(hook.posix);
    }
    const site = theOne(deployments.dev, "Microsoft.Web/sites");
    expect(valueAt(site, "tags.azd-service-name")).toBe(azure.serviceName);
  });

  test("the package ships node_modules, because the build is local", () => {
    expect(read(".funcignore")).not.toMatch(/^\/?node_modules\/?$/m);
    expect(read("azure.yaml")).toMatch(/^ +remoteBuild: false$/m);
  });
});
