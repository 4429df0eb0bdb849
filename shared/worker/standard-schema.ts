/**
 * The part of Standard Schema v1 (standardschema.dev) that Taskgate calls: any validation library that implements it
 * fits, none is needed.
 */
export interface PayloadSchema<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a schema answers. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One problem of a payload. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Validates; resolves to the value or to problems as `path: message`. Throws what the schema throws. */
export async function validate<Output>(
  schema: PayloadSchema<Output>,
  value: unknown,
): Promise<{ ok: true; value: Output } | { ok: false; problems: string[] }> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problems: result.issues.map(describeIssue) };
}

function describeIssue(issue: SchemaIssue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  return `${path.length === 0 ? "payload" : path.join(".")}: ${issue.message}`;
}
