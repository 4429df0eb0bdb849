import { jsonOf, jsonOfObject } from "../../../admin/object-schema";
import type { ObjectSchema } from "../../../admin/object-schema";
import { batchId, key } from "../../../admin/schemas";
import { components } from "./answers";
import { named } from "./schema";
import type { Schema } from "./schema";

/** What a route takes and answers. */
export interface RouteDescription {
  /** A sentence without a full stop. */
  readonly summary: string;
  /** Its members are the parameters of the query. */
  readonly query?: ObjectSchema<unknown>;
  /** What the body may be: one of these. */
  readonly body?: readonly ObjectSchema<unknown>[];
  /** The body may be left out. */
  readonly isBodyOptional?: true;
  /** Tasks may come as a line of JSON each, as `application/x-ndjson`. */
  readonly takesLines?: true;
  /** Statuses when it went well; default 200. */
  readonly statuses?: readonly number[];
  readonly answer: Schema;
}

/** A route as the document describes it. */
export interface DescribedRoute {
  readonly name: string;
  readonly method: string;
  readonly route: string;
  readonly description: RouteDescription;
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

function operationOf({ name, route, description }: DescribedRoute): Schema {
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
    ...(body.length === 0 ? {} : { requestBody: bodyOf(description, body.map(jsonOfObject)) }),
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

function bodyOf({ isBodyOptional, takesLines }: RouteDescription, forms: Schema[]): Schema {
  const [schema] = forms.length === 1 ? forms : [{ oneOf: forms }];
  const lines = { schema: { type: "string", description: "A task on each line." } };
  return {
    required: isBodyOptional !== true,
    content: {
      "application/json": { schema },
      ...(takesLines === true ? { "application/x-ndjson": lines } : {}),
    },
  };
}
