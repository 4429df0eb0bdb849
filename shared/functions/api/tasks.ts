import type { HttpRequest } from "@azure/functions";
import { take } from "../../admin/read-result";
import { readEnqueueRequest } from "../../admin/enqueue-request";
import type { EnqueueRequest } from "../../admin/enqueue-request";
import { traceParentForm } from "../../core/trace-parent";
import { inTime } from "../in-time";
import { isStream, taskBodyOf } from "./read-body";
import { callerName } from "./sign-in";
import { enqueueStream } from "./task-stream";
import { definitionOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/**
 * `POST api/definitions/{name}/tasks`: one task or `{ tasks: [..] }`, or a task per line (`application/x-ndjson`); 201, or 200
 * when all were duplicates.
 */
export const enqueueTasks: Endpoint = async (request, admin, ending) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const changedBy = callerName(request);
  if (isStream(request)) {
    const done = await enqueueStream(request, (tasks) =>
      inTime(admin.enqueue({ ...withTrace({ tasks }, request), definition, changedBy }), {
        reads: false,
        ending,
      }),
    );
    return { status: done.enqueued > 0 ? 201 : 200, body: { definition, ...done } };
  }
  const tasks = withTrace(take(readEnqueueRequest(await taskBodyOf(request))), request);
  const report = await admin.enqueue({ ...tasks, definition, changedBy });
  return { status: report.enqueued > 0 ? 201 : 200, body: report };
};

/** The caller's trace goes on in each task that names none of its own. */
function withTrace(request: EnqueueRequest, { headers }: HttpRequest): EnqueueRequest {
  const traceParent = headers.get("traceparent") ?? "";
  if (!traceParentForm.test(traceParent)) return request;
  return { ...request, tasks: request.tasks.map((task) => ({ traceParent, ...task })) };
}
