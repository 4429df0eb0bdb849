import type { Deployment, Json, Resource } from "./snapshot";

/* Copies of a deployment with something in it changed. */

/** What a fault does to a deployment. */
export type Change = (deployment: Deployment) => Deployment;

/** Every resource of a type with another value at a path; undefined: without it. */
export function put(type: string, path: string, value: Json | undefined): Change {
  return changeResources((resource) =>
    resource.type === type ? (putAt(resource, path.split("."), value) as Resource) : resource,
  );
}

function putAt(value: Json, keys: readonly string[], replacement: Json | undefined): Json {
  const [key = "", ...rest] = keys;
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    return list.map((item, at) => (at === Number(key) ? putAt(item, rest, replacement) : item));
  }
  const { [key]: inner, ...others } = value as Readonly<Record<string, Json>>;
  if (rest.length > 0) return { ...others, [key]: putAt(inner ?? {}, rest, replacement) };
  return replacement === undefined ? others : { ...others, [key]: replacement };
}

export function changeResources(change: (resource: Resource) => Resource): Change {
  return (deployment) => ({
    ...deployment,
    predictedResources: deployment.predictedResources.map(change),
  });
}

/** Without the resources of a type whose id holds a text. */
export function drop(type: string, part = ""): Change {
  return (deployment) => ({
    ...deployment,
    predictedResources: deployment.predictedResources.filter(
      (resource) => resource.type !== type || !resource.id.includes(part),
    ),
  });
}

/** One more of a type, a copy of the first, changed. */
export function more(type: string, changed: Readonly<Record<string, Json>>): Change {
  return (deployment) => {
    const copied = deployment.predictedResources.find((resource) => resource.type === type);
    const added = { id: `more-${type}`, type, name: "more", apiVersion: "2025-01-01", ...copied };
    return {
      ...deployment,
      predictedResources: [...deployment.predictedResources, { ...added, ...changed }],
    };
  };
}

/** A text replaced wherever it stands in resources of a type. */
export function reword(type: string, from: string, to: string): Change {
  return changeResources((resource) =>
    resource.type === type
      ? (JSON.parse(JSON.stringify(resource).replaceAll(from, to)) as Resource)
      : resource,
  );
}
