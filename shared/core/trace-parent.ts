/** W3C Trace Context: version, trace, parent, flags. Both databases ask for the same form (enqueue_tasks, _ReadTasks). */
export const traceParentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
