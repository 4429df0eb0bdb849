import {
  anyObject,
  anyType,
  boolType,
  intType,
  nullType,
  objectType,
  stringType,
  unionOf,
  type BicepType,
} from "./bicep-type";

/** A built-in function: fewest and most arguments, and what it gives. */
export interface BuiltIn {
  readonly argumentsMin: number;
  readonly argumentsMax: number;
  readonly result: BicepType;
}

const suffixes = objectType("environment().suffixes", {
  acrLoginServer: stringType,
  keyvaultDns: stringType,
  sqlServerHostname: stringType,
  storage: stringType,
});

const environmentInfo = objectType("environment()", {
  authentication: anyObject,
  name: stringType,
  portal: stringType,
  resourceManager: stringType,
  suffixes,
});

function builtIn(argumentsMin: number, argumentsMax: number, result: BicepType): BuiltIn {
  return { argumentsMin, argumentsMax, result };
}

/**
 * The functions that infra/ may call. Not all that Bicep has: an unknown name is a fault, so that a
 * misspelling is found; add a line here when a function is first used.
 */
export const builtIns: Readonly<Record<string, BuiltIn>> = {
  cidrSubnet: builtIn(3, 3, stringType),
  concat: builtIn(1, 99, anyType),
  contains: builtIn(2, 2, boolType),
  deployer: builtIn(
    0,
    0,
    objectType("deployer()", {
      objectId: stringType,
      tenantId: stringType,
      userPrincipalName: stringType,
    }),
  ),
  empty: builtIn(1, 1, boolType),
  endsWith: builtIn(2, 2, boolType),
  environment: builtIn(0, 0, environmentInfo),
  first: builtIn(1, 1, anyType),
  format: builtIn(1, 99, stringType),
  guid: builtIn(1, 99, stringType),
  json: builtIn(1, 1, anyType),
  last: builtIn(1, 1, anyType),
  length: builtIn(1, 1, intType),
  max: builtIn(1, 99, intType),
  min: builtIn(1, 99, intType),
  range: builtIn(2, 2, { kind: "array", item: intType }),
  readEnvironmentVariable: builtIn(1, 2, stringType),
  replace: builtIn(3, 3, stringType),
  resourceGroup: builtIn(
    0,
    0,
    objectType("resourceGroup()", {
      id: stringType,
      location: stringType,
      name: stringType,
      tags: unionOf([anyObject, nullType]),
    }),
  ),
  resourceId: builtIn(2, 99, stringType),
  split: builtIn(2, 2, { kind: "array", item: stringType }),
  startsWith: builtIn(2, 2, boolType),
  string: builtIn(1, 1, stringType),
  subscription: builtIn(
    0,
    0,
    objectType("subscription()", {
      displayName: stringType,
      id: stringType,
      subscriptionId: stringType,
      tenantId: stringType,
    }),
  ),
  subscriptionResourceId: builtIn(2, 99, stringType),
  take: builtIn(2, 2, anyType),
  tenant: builtIn(0, 0, objectType("tenant()", { tenantId: stringType })),
  toLower: builtIn(1, 1, stringType),
  toUpper: builtIn(1, 1, stringType),
  union: builtIn(2, 99, anyType),
  uniqueString: builtIn(1, 99, stringType),
};

/** Decorators that infra/ may use, with their number of arguments. */
export const decorators: Readonly<Record<string, number>> = {
  allowed: 1,
  description: 1,
  maxLength: 1,
  maxValue: 1,
  metadata: 1,
  minLength: 1,
  minValue: 1,
};

/** Functions of the listKeys kind: they fetch secrets. */
export function isSecretFunction(name: string): boolean {
  return /^list[A-Z]|^getSecret$/.test(name);
}
