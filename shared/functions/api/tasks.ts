import type { HttpRequest } from "@azure/functions";
import { readListing } from "../../admin/listing";
import { take } from "../../admin/object-reader";
import { readEnqueueRequest } from "../../admin/enqueue-request";
import type { EnqueueRequest } from "../../admin/enqueue-request";
import { readListTasksQuery, readTaskId, traceParentForm } from "../../admin/requests";
import { inTime } from "../in-time";
import { taskBodyOf } from "./read-body";
import { enqueueStream, isStream } from "./task-stream";
import { callerOf, definitionOf, queryOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/definitions/{name}/tasks?state=&max=`: tasks of one state, in the order they will be taken. */
export const listTasks: Endpoint = async (request, admin) => {
  const definition = definitionOf(request);
  const query = take(readListTasksQuery(queryOf(request)));
  const { rows: tasks, more } = await readListing({ ...query, definition }, admin.tasks);
  return { body: { tasks, more } };
};

/**
 * `POST api/definitions/{name}/tasks`: one task or `{ tasks: [..] }`, or a task per line (`application/x-ndjson`); 201, or 200
 * when all were duplicates.
 */
export const enqueueTasks: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const changedBy = callerOf(request);
  if (isStream(request)) {
    const done = await enqueueStream(request, (tasks) =>
      inTime(admin.enqueue({ ...withTrace({ tasks }, request), definition, changedBy }), {
        reads: false,
      }),
    );
    return { status: done.enqueued > 0 ? 201 : 200, body: { definition, ...done } };
  }
  const tasks = withTrace(take(readEnqueueRequest(await taskBodyOf(request))), request);
  const report = await admin.enqueue({ ...tasks, definition, changedBy });
  return { status: report.enqueued > 0 ? 201 : 200, body: report };
};

/** `GET api/tasks/{id}`: where it stands and why. */
export const getTask: Endpoint = async (request, admin) => {
  refuseQuery(request);
  return { body: await admin.explain(take(readTaskId(request.params["id"]))) };
};

/** The caller's trace goes on in each task that names none of its own. */
function withTrace(request: EnqueueRequest, { headers }: HttpRequest): EnqueueRequest {
  const traceParent = headers.get("traceparent") ?? "";
  if (!traceParentForm.test(traceParent)) return request;
  return { ...request, tasks: request.tasks.map((task) => ({ traceParent, ...task })) };
}
