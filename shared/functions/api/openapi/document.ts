import { jsonOf, jsonOfObject } from "../../../admin/object-schema";
import { batchId, key } from "../../../admin/schemas";
import { components } from "./answers";
import { descriptions } from "./descriptions";
import type { RouteDescription, RouteName } from "./descriptions";
import { named } from "./schema";
import type { Schema } from "./schema";

/** A route as the document describes it. */
export interface DescribedRoute {
  readonly name: RouteName;
  readonly method: string;
  readonly route: string;
}

/** How callers are let in. */
export interface DocumentOptions {
  /** Callers sign in, and send no key. */
  readonly isSignIn: boolean;
}

/** The OpenAPI 3.1 document of these routes; addresses are relative to its own. */
export function makeDocument(
  routes: readonly DescribedRoute[],
  { isSignIn }: DocumentOptions,
): Schema {
  const paths: Record<string, Record<string, Schema>> = {};
  for (const described of routes) {
    const path = (paths[`/${described.route}`] ??= {});
    path[described.method.toLowerCase()] = operationOf(described);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Taskgate",
      version: "1",
      summary: "Tasks whose concurrency rows in SQL decide",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "." }],
    paths,
    components: {
      schemas: components,
      ...(isSignIn ? {} : { securitySchemes: { key: keyScheme } }),
    },
    security: isSignIn ? [] : [{ key: [] }],
  };
}

const keyScheme: Schema = {
  type: "apiKey",
  in: "header",
  name: "x-functions-key",
  description: "A function key; the local host wants none.",
};

function operationOf({ name, route }: DescribedRoute): Schema {
  const description: RouteDescription = descriptions[name];
  const { summary, query, body = [], statuses = [200] } = description;
  const inPath = [...route.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => ({
    name: parameter,
    in: "path",
    required: true,
    schema: jsonOf(parameter === "id" ? batchId : key),
  }));
  const inQuery = Object.entries(query?.schema.shape ?? {}).map(([parameter, schema]) => ({
    name: parameter,
    in: "query",
    schema: jsonOf(schema),
  }));
  const answered = { content: { "application/json": { schema: description.answer } } };
  return {
    operationId: name,
    summary,
    parameters: [...inPath, ...inQuery],
    ...(body.length === 0 ? {} : { requestBody: bodyOf(description) }),
    responses: {
      ...Object.fromEntries(
        statuses.map((status) => [String(status), { description: "Done.", ...answered }]),
      ),
      default: {
        description: "Not done: what is wrong, and what to write instead.",
        content: { "application/problem+json": { schema: named("Problem") } },
      },
    },
  };
}

function bodyOf({ body = [], takesLines }: RouteDescription): Schema {
  const forms = body.map(jsonOfObject);
  const [schema] = forms.length === 1 ? forms : [{ oneOf: forms }];
  const lines = { schema: { type: "string", description: "A task on each line." } };
  return {
    required: !body.some(({ options }) => options.isOptional === true),
    content: {
      "application/json": { schema },
      ...(takesLines === true ? { "application/x-ndjson": lines } : {}),
    },
  };
}
