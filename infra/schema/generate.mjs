// Maintainer's script: writes types.json, the official types of the resources that infra/ declares,
// in a compact form. README.md beside it tells how to run it. Not needed for tests or deployment.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const schemaDirectory = dirname(fileURLToPath(import.meta.url));
const typesPath = join(schemaDirectory, "types.json");
const SCALARS = new Set(["any", "bool", "int", "null", "object", "string"]);

// Large parts of the network types that infra/ doesn't use; their values are not checked.
const NOT_EXPANDED = new Set([
  "ApplicationGatewayIPConfiguration",
  "ApplicationSecurityGroup",
  "DdosProtectionPlan",
  "IpamPoolPrefixAllocation",
  "NatGateway",
  "NetworkInterface",
  "NetworkSecurityGroup",
  "RouteTable",
  "ServiceEndpointPolicy",
  "VirtualNetworkPeering",
]);

function usedTypes() {
  const infra = dirname(schemaDirectory);
  const files = ["main.bicep", ...readdirSync(join(infra, "modules")).map((f) => `modules/${f}`)];
  const found = new Set();
  for (const file of files.filter((f) => f.endsWith(".bicep"))) {
    const text = readFileSync(join(infra, file), "utf8");
    for (const match of text.matchAll(/^\s*resource\s+\w+\s+'([^'@]+@[^']+)'/gm)) {
      found.add(match[1]);
    }
  }
  return [...found].sort();
}

function askTool(tool, resourceType) {
  const env = {
    ...process.env,
    AZURE_MCP_COLLECT_TELEMETRY: "false",
    DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: "1",
  };
  const options = ["bicepschema", "get", "--resource-type", resourceType];
  try {
    const text = execFileSync(tool, options, {
      encoding: "utf8",
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return JSON.parse(text).results?.BicepSchemaResult;
  } catch {
    return undefined;
  }
}

/**
 * Turns the tool's text of a type into ours: literals are quoted, the rest are names. A part of a
 * union is a literal even if an object has the same name.
 */
function typeText(type, names) {
  const parts = type.split(" | ");
  const plain = (part) => {
    const [, base, brackets] = /^(.*?)((?:\[\])*)$/s.exec(part);
    if (NOT_EXPANDED.has(base)) {
      return `any${brackets}`;
    }
    const isName = SCALARS.has(base) || (names.has(base) && (parts.length === 1 || brackets));
    return isName ? part : `'${part}'`;
  };
  return parts.map(plain).join(" | ");
}

function propertyText(property, names) {
  const flags = property.flags ?? "";
  const prefix = flags.includes("ReadOnly")
    ? "readonly "
    : flags.includes("Required")
      ? "required "
      : "";
  return prefix + typeText(property.type, names);
}

function objectOf(definition, names) {
  const variants = definition.elements ?? [definition];
  const entries = {};
  for (const variant of variants) {
    for (const property of [...(definition.baseProperties ?? []), ...(variant.properties ?? [])]) {
      const text = propertyText(property, names);
      const known = entries[property.name];
      // The property that tells the variants apart has one literal per variant: join them.
      entries[property.name] =
        known === undefined || known === text
          ? text
          : `${known} | ${text.replace(/^(readonly|required) /, "")}`;
    }
  }
  if (definition.additionalPropertiesType) {
    entries["*"] = typeText(definition.additionalPropertiesType, names);
  }
  return entries;
}

/** Keeps what can be reached from the body; below read-only properties only one level of it. */
function reachable(objects, root) {
  const kept = {};
  const visit = (name, isReadOnly) => {
    if (kept[name] !== undefined || objects[name] === undefined) {
      return;
    }
    kept[name] = objects[name];
    for (const text of Object.values(objects[name])) {
      const below = isReadOnly || text.startsWith("readonly ");
      if (isReadOnly) {
        continue;
      }
      for (const word of text.match(/[A-Za-z0-9_.]+/g) ?? []) {
        visit(word, below);
      }
    }
  };
  visit(root, false);
  return kept;
}

/** An object that was left out is not checked: its name becomes "any". */
function forgetMissing(objects) {
  for (const properties of Object.values(objects)) {
    for (const [key, text] of Object.entries(properties)) {
      properties[key] = text.replace(/'[^']*'|[A-Za-z0-9_]+/g, (word) => {
        const isKnown =
          word.startsWith("'") ||
          SCALARS.has(word) ||
          word === "readonly" ||
          word === "required" ||
          objects[word] !== undefined;
        return isKnown ? word : "any";
      });
    }
  }
  return objects;
}

function compact(result, resource) {
  const body = result.find((entry) => entry.$type === "Resource");
  if (body.name !== resource) {
    throw new Error(`infra/ uses ${resource}, the tool knows ${body.name}`);
  }
  const definitions = result.filter((entry) => entry.$type === "Object");
  const names = new Set(definitions.map((definition) => definition.name));
  const objects = Object.fromEntries(
    definitions.map((definition) => [definition.name, objectOf(definition, names)]),
  );
  objects.Body = objectOf(body.bodyType, names);
  return { source: "package", objects: forgetMissing(reachable(objects, "Body")) };
}

function main([tool, version]) {
  if (tool === undefined || version === undefined) {
    throw new Error(
      "usage: node infra/schema/generate.mjs <path of azmcp> <version of its package>",
    );
  }
  const old = existsSync(typesPath)
    ? JSON.parse(readFileSync(typesPath, "utf8"))
    : { resources: {} };
  const resources = {};
  for (const resource of usedTypes()) {
    const result = askTool(tool, resource.slice(0, resource.indexOf("@")));
    const byHand = old.resources[resource]?.source === "documentation";
    if (result === undefined && !byHand) {
      throw new Error(`${resource}: unknown to the tool; write it by hand (README.md)`);
    }
    resources[resource] =
      result === undefined ? old.resources[resource] : compact(result, resource);
  }
  const writtenByHand = Object.keys(resources).filter(
    (resource) => resources[resource].source === "documentation",
  );
  const provenance = { ...old.provenance, package: `@azure/mcp ${version}`, writtenByHand };
  writeFileSync(typesPath, `${JSON.stringify({ provenance, resources }, null, 2)}\n`);
}

main(process.argv.slice(2));
