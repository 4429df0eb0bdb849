import { TaskgateError } from "../../core/errors";
import { isOf, messageOf } from "../../core/foreign-value";
import { isTaskFailure } from "../../core/task-failure";
import { cleanText } from "../../core/text";

/**
 * The part of Standard Schema v1 (standardschema.dev) that Taskgate calls. Any validation library that implements it fits
 * (zod, valibot, arktype); none is needed. `Input` is the payload as it is enqueued, `Output` what the handler gets.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
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

/** The value, or problems as `path: message`. */
export type Validated<Output> =
  | { ok: true; value: Output }
  /** `cause`: what the schema threw. */
  | { ok: false; problems: string[]; cause?: unknown };

/** Characters of what a schema throws that an answer shows. */
const reasonLengthMax = 400;

/** Validates, at once where the schema answers at once. Throws what the schema throws. */
function validate<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Validated<Output> | Promise<Validated<Output>> {
  const result = schema["~standard"].validate(value);
  return "then" in result ? result.then(describeResult) : describeResult(result);
}

/**
 * The same for the payload of a task that runs. Throws what the schema throws: an error of Taskgate and a deliberate end as they are,
 * anything else as the cause of an error that names the schema.
 */
export async function validateStored<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<Validated<Output>> {
  try {
    return await validate(schema, value);
  } catch (error) {
    if (isOf(error, TaskgateError) || isTaskFailure(error)) throw error;
    throw new Error(`the task's input schema threw: ${reasonOf(error)}`, { cause: error });
  }
}

/** The same for a payload that is being enqueued: what the schema throws is the payload's problem. An error of Taskgate is thrown as it is. */
export function validateGiven<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Validated<Output> | Promise<Validated<Output>> {
  try {
    const checked = validate(schema, value);
    return checked instanceof Promise ? checked.catch(describeSchemaThrew) : checked;
  } catch (error) {
    return describeSchemaThrew(error);
  }
}

function describeSchemaThrew(error: unknown): { ok: false; problems: string[]; cause: unknown } {
  if (isOf(error, TaskgateError)) throw error;
  return { ok: false, problems: [`its input schema threw: ${reasonOf(error)}`], cause: error };
}

function reasonOf(error: unknown): string {
  return cleanText(messageOf(error), reasonLengthMax) || "an error without a message";
}

function describeResult<Output>(result: SchemaResult<Output>): Validated<Output> {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problems: result.issues.map(describeIssue) };
}

function describeIssue(issue: SchemaIssue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  return `${path.length === 0 ? "payload" : path.join(".")}: ${issue.message}`;
}
