import { readOwnerRequest } from "../../admin/app-requests";
import { readRateRequest } from "../../admin/limit-requests";
import { take } from "../../admin/object-reader";
import { readLimitRequest, readOperatorRequest } from "../../admin/requests";
import { bodyOf } from "./read-body";
import { callerOf, definitionOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/definitions`: definitions with their limits, their executions and the tasks that wait. */
export const listDefinitions: Endpoint = async (request, admin) => {
  refuseQuery(request);
  return { body: { definitions: await admin.definitions() } };
};

/** `GET api/definitions/{name}`: one of them; 404 names near ones. */
export const getDefinition: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const [definition] = await admin.definitions(definitionOf(request));
  return { body: definition };
};

/** `PUT api/definitions/{name}/limit`: `{ limit: number | null | "code", reason?, operationId? }`. */
export const putLimit: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const change = take(readLimitRequest(await bodyOf(request)));
  return { body: await admin.setLimit({ ...change, definition, changedBy: callerOf(request) }) };
};

/** `PUT api/definitions/{name}/rate`: `{ rate: { count, periodMs, burst? } | null | "code", reason? }`. */
export const putRate: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const change = take(readRateRequest(await bodyOf(request)));
  return { body: await admin.setRate({ ...change, definition, changedBy: callerOf(request) }) };
};

/** `PUT api/definitions/{name}/owner`: `{ app: name | null, reason? }`. */
export const putOwner: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const change = take(readOwnerRequest(await bodyOf(request)));
  return { body: await admin.setOwner({ ...change, definition, changedBy: callerOf(request) }) };
};

/** `POST api/definitions/{name}/pause`: `{ reason? }` or nothing. */
export const pauseDefinition: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const change = take(readOperatorRequest(await bodyOf(request)));
  return { body: await admin.pause({ ...change, definition, changedBy: callerOf(request) }) };
};

/** `POST api/definitions/{name}/resume`: `{ reason? }` or nothing. */
export const resumeDefinition: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const change = take(readOperatorRequest(await bodyOf(request)));
  return { body: await admin.resume({ ...change, definition, changedBy: callerOf(request) }) };
};
