import type { EnqueueReport } from "../admin/create-admin";
import type { Actor, OfDefinition } from "../admin/admin-tools";
import type { EnqueueRequest } from "../admin/enqueue-request";
import { invalidInput } from "../admin/read-result";
import { scanJson } from "../core/json-scan";
import { limits } from "../core/limits";
import type { NewTask } from "../ports/task-store";
import { objectOf } from "./answer-parts";
import type { AppConnection } from "./app-connection";

/**
 * Adds tasks by one request, so that all are added or none. The app adds what its code says of their kinds. Throws
 * InvalidArgumentError before anything is sent: TASKGATE_ARG_TOO_LARGE where the tasks don't fit into one request, and for
 * `allowsUnknownKind`, which the app doesn't take.
 */
export async function enqueueByApp(
  app: AppConnection,
  request: EnqueueRequest & Actor & OfDefinition,
): Promise<EnqueueReport> {
  const { definition, tasks, operationId, allowsUnknownKind } = request;
  if (allowsUnknownKind === true) {
    const expected =
      "it with --db only: an app refuses handlers that its code doesn't have. Enqueue by the app that has the handler";
    throw invalidInput([{ field: "--allow-unknown-kind", value: "set", expected }]);
  }
  const body = JSON.stringify({ tasks: tasks.map(memberOf), operationId });
  refuseLong(body, tasks.length);
  return objectOf(await app.change("POST", ["definitions", definition, "tasks"], body), "tasks");
}

/** The task as a list has it: its payload was made a text of the same JSON. */
function memberOf({ payload, ...members }: NewTask): object {
  return { payload: payload === null ? null : (JSON.parse(payload) as unknown), ...members };
}

/** The app refuses it likewise, after it has travelled. */
function refuseLong(body: string, count: number): void {
  const bytes = Buffer.byteLength(body);
  const isLong = bytes > limits.httpBulkBytesMax;
  // Of one task its reader has judged the payload.
  const isMuch = count > 1 && scanJson(body).problems.length > 0;
  if (!isLong && !isMuch) return;
  const value = `${String(count)} tasks of ${String(bytes)} bytes`;
  const expected = `at most ${String(limits.httpBulkBytesMax)} bytes and ${String(limits.jsonValuesMax)} values in a request: --from FILE cuts a list, and --db takes more`;
  throw invalidInput([{ field: "tasks", value, expected }], "TASKGATE_ARG_TOO_LARGE");
}
