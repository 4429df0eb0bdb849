/* What a parameter file deploys, as the Bicep compiler predicts it: infra/env/<environment>.snapshot.json. */

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

export type Environment = "dev" | "prod";

/** A resource with everything it says; what only Azure knows stands there as an expression, "[reference(..)..]". */
export interface Resource {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly apiVersion: string;
  readonly [property: string]: Json;
}

/** The content of a snapshot. */
export interface Snapshot {
  readonly predictedResources: readonly Resource[];
  readonly diagnostics: readonly Json[];
  readonly outputs: Readonly<Record<string, Json>>;
}

/** A snapshot and the parameter file that it is of. */
export interface Deployment extends Snapshot {
  readonly environment: Environment;
}

/** The faults of a deployment, one sentence each; none: it is good. */
export type Policy = (deployment: Deployment) => readonly string[];

/** The resources of a type, such as `Microsoft.Sql/servers`. */
export function resourcesOf(deployment: Deployment, type: string): readonly Resource[] {
  return deployment.predictedResources.filter((resource) => resource.type === type);
}

/** The one resource of a type. Throws where there is none or more. */
export function theOne(deployment: Deployment, type: string): Resource {
  const [only, ...more] = resourcesOf(deployment, type);
  if (only === undefined || more.length > 0)
    throw new Error(`${deployment.environment}: expected one ${type}`);
  return only;
}

/** The value at a path such as `properties.siteConfig.ftpsState`; a number is the place in a list. */
export function valueAt(value: Json | undefined, path: string): Json | undefined {
  return path.split(".").reduce<Json | undefined>((outer, key) => {
    if (isList(outer)) return outer[Number(key)];
    return isObject(outer) ? outer[key] : undefined;
  }, value);
}

/** The value at a path as a list; an absent one is empty. */
export function listAt(value: Json | undefined, path: string): readonly Json[] {
  const found = valueAt(value, path);
  return isList(found) ? found : [];
}

/** The value at a path as a text; "" for anything else. */
export function textAt(value: Json | undefined, path: string): string {
  const found = valueAt(value, path);
  return typeof found === "string" ? found : "";
}

/** All names of properties and all texts of a value. */
export function namesAndTexts(value: Json): { readonly names: string[]; readonly texts: string[] } {
  const names: string[] = [];
  const texts: string[] = [];
  const visit = (part: Json): void => {
    if (typeof part === "string") texts.push(part);
    else if (isList(part)) part.forEach(visit);
    else if (isObject(part)) {
      names.push(...Object.keys(part));
      Object.values(part).forEach(visit);
    }
  };
  visit(value);
  return { names, texts };
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !isList(value);
}
