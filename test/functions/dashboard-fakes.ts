import type { HttpResponseInit } from "@azure/functions";
import type { Admin } from "../../shared/admin/create-admin";
import { asTaskId } from "../../shared/core/ids";
import type { PageHandler, PageRoute } from "./page-server";

/* Routes that the dashboard asks for and this app may lack, made of the admin's other operations. */

interface StopReport {
  readonly at: string;
  readonly by: string;
  readonly reason: string | null;
  readonly definitions: readonly string[];
  readonly schedules: readonly { readonly definition: string; readonly name: string }[];
}

const changedBy = "http:ada@example.com";
const deadMax = 1_000;

/** Ids and numbers don't tell two errors apart. */
export const likenessOf = (error: string): string => error.replaceAll(/\d+/g, "#");

/** Stop, resume, failures and the pace. `finishedPerMinute` is what the pace says of every definition. */
export function fakeRoutes(
  admin: Admin,
  { finishedPerMinute = 12, slowTasks = [] as readonly string[] } = {},
): readonly PageRoute[] {
  let stop: StopReport | null = null;
  const stopAll: PageHandler = async (request) => {
    const definitions: string[] = [];
    const schedules: { definition: string; name: string }[] = [];
    const reason = reasonOf(await bodyOf(request));
    for (const { name, paused } of await admin.definitions()) {
      if (paused) continue;
      await admin.pause({ definition: name, changedBy, ...reason });
      definitions.push(name);
    }
    for (const { definition, name, paused } of await admin.schedules({ max: 100 })) {
      if (paused) continue;
      await admin.pauseSchedule({ definition, schedule: name, changedBy, ...reason });
      schedules.push({ definition, name });
    }
    const at = new Date().toISOString();
    stop = { at, by: changedBy, reason: reason.reason ?? null, definitions, schedules };
    return json({ definitions, schedules });
  };
  const resumeAll: PageHandler = async (request) => {
    const reason = reasonOf(await bodyOf(request));
    const { definitions, schedules } = stop ?? { definitions: [], schedules: [] };
    for (const definition of definitions) await admin.resume({ definition, changedBy, ...reason });
    for (const { definition, name } of schedules)
      await admin.resumeSchedule({ definition, schedule: name, changedBy, ...reason });
    stop = null;
    return json({ definitions, schedules });
  };
  return [
    { method: "POST", route: "stop", handler: stopAll },
    { method: "POST", route: "resume", handler: resumeAll },
    { method: "GET", route: "stop", handler: () => Promise.resolve(json({ stop })) },
    { method: "GET", route: "failures", handler: listFailures(admin) },
    { method: "POST", route: "failures/redrive", handler: redriveFailures(admin) },
    {
      method: "GET",
      route: "definitions/{name}/pace",
      handler: readPace(admin, { finishedPerMinute, slowTasks }),
    },
  ];
}

interface Failure {
  readonly definition: string;
  readonly kind: string;
  readonly error: string;
  readonly at: string;
  readonly task: string;
}

async function readFailures(admin: Admin, only: string | null): Promise<Failure[]> {
  const found: Failure[] = [];
  for (const { name } of await admin.definitions()) {
    if (only !== null && only !== name) continue;
    const tasks = await admin.tasks({ definition: name, state: "dead", max: deadMax });
    for (const { kind, error, finishedAt, createdAt, task } of tasks)
      found.push({ definition: name, kind, error: error ?? "", at: finishedAt ?? createdAt, task });
  }
  return found.sort((left, right) => right.at.localeCompare(left.at));
}

function listFailures(admin: Admin): PageHandler {
  return async ({ query }) => {
    const groups = new Map<string, Failure[]>();
    const failures = await readFailures(admin, query.get("definition"));
    for (const failure of failures) {
      const key = [failure.definition, failure.kind, likenessOf(failure.error)].join("\n");
      groups.set(key, [...(groups.get(key) ?? []), failure]);
    }
    const max = Number(query.get("max") ?? 20);
    const all = [...groups.values()].sort((left, right) => right.length - left.length);
    return json({
      groups: all.slice(0, max).map((list) => describeGroup(list)),
      more: all.length > max,
      read: failures.length,
      isWhole: true,
    });
  };
}

function describeGroup(list: readonly Failure[]): object {
  const [newest] = list;
  if (newest === undefined) return {};
  const { definition, kind, error, task } = newest;
  const firstAt = list.at(-1)?.at;
  const seen = { count: list.length, firstAt, lastAt: newest.at, example: task };
  return { definition, kind, error, like: likenessOf(error), ...seen };
}

function redriveFailures(admin: Admin): PageHandler {
  return async (request) => {
    const { definition, kind, like, dryRun, reason } = await bodyOf(request);
    const alike = (await readFailures(admin, String(definition))).filter(
      (failure) => failure.kind === kind && likenessOf(failure.error) === like,
    );
    const found = alike.length;
    if (dryRun === true) return json({ found, redriven: 0, left: found });
    const taskIds = alike.map(({ task }) => asTaskId(task));
    const { tasks } = await admin.redrive({ taskIds, changedBy, ...reasonOf({ reason }) });
    const redriven = tasks.filter(({ outcome }) => outcome === "redriven").length;
    return json({ found, redriven, left: found - redriven });
  };
}

function readPace(
  admin: Admin,
  { finishedPerMinute, slowTasks }: { finishedPerMinute: number; slowTasks: readonly string[] },
): PageHandler {
  return async ({ params }) => {
    const definition = String(params["name"]);
    const [status] = await admin.definitions(definition);
    const left = (status?.ready ?? 0) + (status?.running ?? 0);
    const [oldest] = await admin.tasks({ definition, state: "ready", max: 1 });
    const claimed = await admin.tasks({ definition, state: "claimed", max: 50 });
    const ageOf = (instant: string): number => Date.now() - Date.parse(instant);
    const heldUpBy = status?.paused === true ? "it is paused" : null;
    return json({
      definition,
      oldestReady:
        oldest === undefined
          ? null
          : { task: oldest.task, createdAt: oldest.createdAt, ageMs: ageOf(oldest.createdAt) },
      finished: {
        count: finishedPerMinute * 10,
        overMs: 600_000,
        perMinute: finishedPerMinute,
      },
      untilDoneMs: heldUpBy === null ? (left / finishedPerMinute) * 60_000 : null,
      heldUpBy,
      kinds: [{ kind: definition, finished: finishedPerMinute * 10, p50Ms: 4_200, p99Ms: 17_000 }],
      running: claimed.map(({ task, kind, state, claimedAt, createdAt, worker }) => {
        const sinceMs = ageOf(claimedAt ?? createdAt);
        return { task, kind, state, sinceMs, worker, isSlow: slowTasks.includes(task) };
      }),
    });
  };
}

const json = (jsonBody: unknown): HttpResponseInit => ({
  jsonBody,
  headers: { "content-type": "application/json" },
});

const bodyOf = async (request: { text(): Promise<string> }): Promise<Record<string, unknown>> =>
  JSON.parse((await request.text()) || "{}") as Record<string, unknown>;

function reasonOf({ reason }: Record<string, unknown>): { reason?: string } {
  return typeof reason === "string" ? { reason } : {};
}
