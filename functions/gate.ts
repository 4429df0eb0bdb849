import { taskgate } from "taskgate/functions";
import { events, results, tasks } from "./tasks";

/** Taskgate for this app: what `index.ts` registers, and what functions of your own use. */
export const gate = taskgate({ tasks, events, results });
