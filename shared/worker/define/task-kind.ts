import type { KindRules, DefinitionSettings } from "../../ports/task-store";
import type { NewSchedule } from "../../ports/task-store";
import type { JsonPayload } from "../../core/json";
import type { VersionedKind } from "./kind-upgrade";
import type { StandardSchema } from "./standard-schema";
import type { Continuation, HandlerResult, TaskContext } from "./task-context";
import type { AnyTaskRef, TaskRef } from "./task-ref";

/** A definition: a limit and settings under a name, made by `defineQueue`. Several kinds of tasks may share one. */
export interface Definition {
  readonly name: string;
  readonly settings: DefinitionSettings;
  /** Most tokens one worker asks for; null: the worker's default. */
  readonly concurrencyPerWorker: number | null;
  /** What becomes of an enqueue that names a kind which this build doesn't have. */
  readonly onUnknownKind: "refuse" | "keep";
  /** Of all settings: workers compare it with the database's before they register. */
  readonly settingsHash: string;
  /** What the code says of its kinds' tasks, in a registry; undefined: of a definition alone. */
  readonly kinds?: readonly KindRules[];
}

/** A schedule of a kind; its next instant is computed when it is registered. */
export type KindSchedule = Omit<NewSchedule, "nextRunAt">;

/** A kind of task: its handler and the definition that limits it. `Output` is what its schema makes of a payload. */
export interface TaskKind<Input = JsonPayload, Result = JsonPayload, Output = Input>
  extends TaskRef<Input, Result>, VersionedKind {
  readonly version: number;
  readonly definition: Definition;
  readonly schema: StandardSchema<Input, Output> | null;
  readonly groupKey: ((payload: Input) => string | null | undefined) | null;
  /** What the database is told of its tasks. */
  readonly rules: KindRules;
  readonly schedules: readonly KindSchedule[];
  /** Null: none. */
  readonly timeoutMs: number | null;
  readonly run: (payload: Output, context: TaskContext) => Promise<HandlerResult | Continuation>;
}

/** A kind whose types are its own business: what tables of kinds hold. It validates its payload itself. */
export interface AnyTaskKind extends AnyTaskRef, VersionedKind {
  readonly version: number;
  readonly definition: Definition;
  readonly groupKey: ((payload: never) => string | null | undefined) | null;
  readonly rules: KindRules;
  readonly schedules: readonly KindSchedule[];
  readonly timeoutMs: number | null;
  readonly run: (payload: never, context: TaskContext) => Promise<HandlerResult | Continuation>;
}

/** A kind as a worker runs it: the types of its payload are checked by its schema only. */
export type RunnableKind = TaskKind<unknown, unknown>;
