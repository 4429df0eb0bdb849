import { jsonOf, jsonOfObject } from "../../../admin/object-schema";
import { batchId, key } from "../../../admin/schemas";
import { cursorText } from "../cursor";
import { components } from "./answers";
import { descriptions } from "./descriptions";
import type { RouteDescription, RouteName } from "./descriptions";
import { named, text } from "./schema";
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
      description:
        "Lengths of texts count UTF-16 units, where JSON Schema counts code points: an emoji is two. A text has no half surrogate pair. A payload has at most 64 KiB, and no U+0000. `burst` is at most `count`. An optional member may also be null.",
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
  const { summary, query, body = [] } = description;
  const inPath = [...route.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => ({
    name: parameter,
    in: "path",
    required: true,
    schema: jsonOf(parameter === "id" ? batchId : key),
  }));
  const inQuery = Object.entries(query?.schema.shape ?? {}).map(([parameter, schema]) => ({
    name: parameter,
    in: "query",
    ...queryForm(jsonOf(schema)),
  }));
  const pages = { name: "cursor", in: "query", schema: jsonOf(cursorText) };
  return {
    operationId: name,
    summary,
    parameters: [
      ...inPath,
      ...inQuery,
      ...(description.hasPages === true ? [pages] : []),
      ...(description.takesTag === true ? [ifMatch] : []),
    ],
    ...(body.length === 0 ? {} : { requestBody: bodyOf(description) }),
    responses: responsesOf(description),
  };
}

/** A list of words is one text, joined by commas. */
function queryForm(schema: Schema): Schema {
  return schema["type"] === "array" ? { schema, style: "form", explode: false } : { schema };
}

const ifMatch: Schema = {
  name: "If-Match",
  in: "header",
  schema: text,
  description:
    "The change is made only if this is the ETag of the settings; *: only if there are some. Else the answer is 412.",
};

function responsesOf({ answer, statuses = [200], hasTag, takesTag }: RouteDescription): Schema {
  const description =
    hasTag === "one" ? "Of the settings, where the answer holds one row." : "Of the settings.";
  const headers = hasTag === undefined ? {} : { headers: { ETag: { schema: text, description } } };
  const content = { "application/json": { schema: answer } };
  const problem = { "application/problem+json": { schema: named("Problem") } };
  const changed = {
    description: "Not done: the settings aren't those that If-Match names.",
    headers: { ETag: { schema: text, description: "Of the settings as they stand." } },
    content: problem,
  };
  return {
    ...Object.fromEntries(
      statuses.map((status) => [String(status), { description: "Done.", ...headers, content }]),
    ),
    ...(takesTag === true ? { 412: changed } : {}),
    default: {
      description: "Not done: what is wrong, and what to write instead.",
      content: problem,
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
