import { inTask } from "../../core/error-places";
import { completeTask } from "../../enqueue/complete-task";
import type { NewTask } from "../../ports/task-store";
import { versionStored } from "../define/kind-upgrade";
import type { RunnableKind } from "../define/task-kind";
import { checkPayload } from "./check-payload";
import { checkKnownKind } from "./known-kind";
import { jsonText, upgraded } from "./new-task";
import type { Registry } from "../define/registry";

/**
 * Does for tasks that come by HTTP or the command line what the client does for those of TypeScript: adds what the code says
 * of their kinds. No compiler has seen these payloads, so their schemas are asked, too: a payload that a worker would only
 * refuse later is refused here. So is a kind that this build doesn't have, unless `allowsUnknownKind`, which
 * a caller without that option leaves out. Throws InvalidArgumentError naming the task and the problems.
 */
export async function completeTasks(
  registry: Registry,
  call: { readonly definition: string; readonly allowsUnknownKind?: boolean | undefined },
  tasks: readonly NewTask[],
): Promise<readonly NewTask[]> {
  const { definition, allowsUnknownKind } = call;
  // Only a caller that has the option can follow the advice.
  const advice = allowsUnknownKind === false ? { option: "--allow-unknown-kind" } : {};
  const completed: NewTask[] = [];
  for (const [index, task] of tasks.entries()) {
    const stored = knownName(registry, task.kind ?? definition);
    const kind = registry.kind(stored);
    try {
      if (allowsUnknownKind !== true)
        checkKnownKind(registry, { definition, kind: stored, ...advice });
      const named = task.kind === undefined ? task : { ...task, kind: stored };
      const current = kind === null ? named : currentTask(kind, { task: named, stored });
      if (kind !== null) await checkPayload(labelled(kind, stored), current.payload);
      completed.push(completeTask(current, kind, { isBlocked: false }));
    } catch (error) {
      throw inTask(error, { index, of: tasks.length });
    }
  }
  return completed;
}

/** `greet@1` is how a caller may write version 1, whose name is `greet`; unless a kind of the app has that very name. */
function knownName(registry: Registry, given: string): string {
  const name = given.replace(/@1$/, "");
  return registry.kind(given) === null && registry.kind(name) !== null ? name : given;
}

/** The task as a caller with the current code would have added it. */
function currentTask(
  kind: RunnableKind,
  { task, stored }: { task: NewTask; stored: string },
): NewTask {
  const version = versionStored(kind, stored);
  if (version === kind.version) return task;
  const given = task.payload === null ? null : (JSON.parse(task.payload) as unknown);
  const payload = upgraded(kind, { version, payload: given });
  return {
    ...task,
    kind: kind.rules.kind,
    payload: payload === null ? null : jsonText("payload", payload),
  };
}

/** The kind as a refusal names it: whose payload was upgraded is told how the current version is named. */
function labelled(kind: RunnableKind, stored: string): Pick<RunnableKind, "kind" | "schema"> {
  if (stored === kind.rules.kind) return kind;
  const { schema } = kind;
  return { kind: `${kind.rules.kind} (upgraded from ${stored})`, schema };
}
