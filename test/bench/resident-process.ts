import { defineTask } from "../../shared/worker/define/define-task";
import { AppProcess } from "../../shared/functions/runtime";
import { workResident } from "../../shared/functions/resident";

/*
 * A resident process of a latency scenario: TASKGATE_DATABASE_URL names the database. It sends `ready`, and an instant for
 * each task that starts, to its parent. Works until its parent goes.
 */
const ping = defineTask({
  name: "ping",
  limit: 1,
  run: async () => void process.send?.({ startedAtMs: performance.timeOrigin + performance.now() }),
});

const ending = new AbortController();
process.on("disconnect", () => {
  ending.abort();
});
const app = new AppProcess({ tasks: [ping] });
void workResident(app, { signal: ending.signal, pollMs: 600_000 })
  .then(() => app.end())
  .then(() => process.exit(0));
