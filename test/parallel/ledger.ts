import type { DefinitionSettings } from "../../shared/ports/task-store";
import type {
  Call,
  CompleteCall,
  EnqueueCall,
  FailureRef,
  InnerCall,
} from "../tsql/histories/call";
import type { NameKind } from "../tsql/histories/names";
import type { Answers, InnerAnswer, Outcome } from "../tsql/histories/perform";
import { Broken } from "./broken";
import { Fates } from "./fates";
import { Holdings } from "./holdings";

type CallOf<Kind extends Call["do"]> = Extract<Call, { do: Kind }>;

/** Tells the ledger the outcome of a call. */
export type Answered = (outcome: Outcome) => void;

/** An id by its name; the same for all of a task's names. */
export type IdOf = (kind: NameKind, name: string) => string;

/** What a caller's own mistake is answered with. */
const refusals = new Set(["TASKGATE_ARG_CONFLICT", "TASKGATE_ARG_INVALID", "TASKGATE_ARG_UNKNOWN"]);

/**
 * A simplified model of what several parties do at once: it knows no rules of the order of claims, only the answers, and
 * what can't be true of them together. It is told of each call before it is sent, and of its answer.
 */
export class Ledger {
  readonly holdings: Holdings;
  readonly fates = new Fates();
  readonly #settings: ReadonlyMap<string, DefinitionSettings>;
  readonly #idOf: IdOf;

  constructor(settings: ReadonlyMap<string, DefinitionSettings>, idOf: IdOf) {
    this.#settings = settings;
    this.#idOf = idOf;
    this.holdings = new Holdings(settings);
  }

  /** A call is about to be sent. */
  send(call: Call): Answered {
    const { movedMs } = this.holdings;
    this.#begin(call);
    return (outcome) => {
      if (outcome.did === "nothing") {
        const { code, message } = outcome.error;
        if (!refusals.has(code)) throw new Broken(`${call.do} failed with ${code}: ${message}`);
        return;
      }
      this.#learn(call, outcome, movedMs);
    };
  }

  /** From now on it may be there, or be gone. */
  #begin(call: Call): void {
    switch (call.do) {
      case "advance":
        this.holdings.beginMove(call.ms);
        break;
      case "setLimit":
        if (call.limit !== "code") this.holdings.raiseLimit(call.definition, call.limit);
        break;
      case "setGroup":
        // A group that it makes has the slots of that definition.
        this.holdings.raiseSlots(groupOf(call), call.slots ?? this.#slotsOf(call.definition));
        break;
      case "release":
      case "releaseSurplus":
        this.holdings.keepTokens(this.#execution(call.execution), call.keep);
        break;
      case "finish":
        this.holdings.end(this.#execution(call.execution));
        break;
      case "work":
        this.#leave(call.execution, call.done);
        break;
      case "complete":
        this.#leave(call.execution, [call]);
        break;
      case "fail":
        this.#leave(call.execution, call.failures);
        break;
      case "transaction":
        for (const inner of call.calls) {
          if (inner.do === "complete") this.#leave(inner.execution, [inner]);
        }
        break;
      default:
        break;
    }
  }

  #learn(call: Call, outcome: Outcome, movedMs: number): void {
    switch (call.do) {
      case "advance":
        this.holdings.endMove(call.ms);
        break;
      case "start":
        if (outcome.did === "start") this.#learnStart(call, outcome.answer, movedMs);
        break;
      case "acquire":
      case "release":
      case "releaseSurplus":
        if (outcome.did === call.do) this.#learnTokens(call, outcome.answer);
        break;
      case "work":
        if (outcome.did === "work") this.#learnWork(call, outcome.answer, movedMs);
        break;
      case "complete":
        if (outcome.did === "complete") this.#learnCompletion(call, outcome.answer.status);
        break;
      case "fail":
        if (outcome.did === "fail") this.#learnFailures(call, outcome.answer);
        break;
      case "heartbeat":
        if (outcome.did === "heartbeat") this.#learnBeats(outcome.answer, movedMs);
        break;
      case "enqueue":
        if (outcome.did === "enqueue") this.#learnTasks(call, outcome.answer);
        break;
      case "transaction":
        if (outcome.did === "transaction") this.#learnTransaction(call, outcome.answer.answers);
        break;
      default:
        this.#learnEnds(outcome);
        break;
    }
  }

  #learnStart(call: CallOf<"start">, answer: Answers["start"], movedMs: number): void {
    const { executionId, tokens, leaseMs } = answer;
    if (executionId === null || leaseMs === null) return;
    const { definition } = call;
    const holding = { definition, tokens, leaseUntilMs: movedMs + leaseMs };
    this.holdings.start(this.#execution(executionId), holding);
  }

  #learnTokens(
    { execution }: { readonly execution: string },
    { status, tokens }: { readonly status: string; readonly tokens: number },
  ): void {
    const id = this.#execution(execution);
    if (status === "fenced") this.holdings.end(id);
    else this.holdings.setTokens(id, tokens);
  }

  #learnWork(call: CallOf<"work">, answer: Answers["work"], movedMs: number): void {
    const execution = this.#execution(call.execution);
    const { status, claimed, refused, leaseMs } = answer;
    if (status === "fenced" || status === "ended") this.holdings.end(execution);
    // No answer is ever lost here, so that a repeat tells nothing new.
    if (["fenced", "ended", "busy", "again"].includes(status)) return;
    // A call that finds nothing renews nothing.
    if (leaseMs !== null) this.holdings.renew(execution, movedMs + leaseMs);
    const refusedIds = new Set(refused.map((task) => this.#task(task)));
    for (const { task, fence, durationMs, result } of call.done) {
      const id = this.#task(task);
      if (refusedIds.has(id)) continue;
      this.fates.complete(id, this.#fence(fence), { durationMs, result });
    }
    const claims = claimed.map(({ taskId, fence }) => {
      return { task: this.#task(taskId), fence: this.#fence(fence) };
    });
    this.holdings.claim(execution, claims);
  }

  #learnCompletion(call: CompleteCall, status: Answers["complete"]["status"]): void {
    if (status !== "done") return;
    const { durationMs, result } = call;
    this.fates.complete(this.#task(call.task), this.#fence(call.fence), { durationMs, result });
  }

  #learnFailures(call: CallOf<"fail">, { results }: Answers["fail"]): void {
    const fences = new Map(
      call.failures.map(({ task, fence }: FailureRef) => [this.#task(task), this.#fence(fence)]),
    );
    for (const { taskId, outcome } of results) {
      if (outcome === "again" || outcome === "fenced") continue;
      const task = this.#task(taskId);
      this.fates.endClaim(task, fences.get(task) ?? "?", outcome);
    }
  }

  #learnBeats({ executions }: Answers["heartbeat"], movedMs: number): void {
    for (const { executionId, status, leaseMs } of executions) {
      const id = this.#execution(executionId);
      if (status === "fenced" || status === "ended") this.holdings.end(id);
      if (leaseMs !== null) this.holdings.renew(id, movedMs + leaseMs);
    }
  }

  #learnTasks(
    call: Pick<EnqueueCall, "definition" | "tasks" | "operation"> & { readonly id: string },
    { taskIds, outcomes }: Pick<Answers["enqueue"], "taskIds" | "outcomes">,
  ): void {
    const by = call.operation === null ? `call ${call.id}` : `operation ${String(call.operation)}`;
    for (const [index, name] of taskIds.entries()) {
      if (outcomes[index] !== "enqueued") continue;
      const id = this.#task(name);
      this.fates.add(id, `${by}, task ${String(index)}`);
      const { group, groupScope: scope = "definition" } = call.tasks[index] ?? {};
      if (group == null) continue;
      const key = groupOf({ definition: call.definition, group, scope });
      this.holdings.putInGroup(id, key);
      this.holdings.raiseSlots(key, this.#slotsOf(call.definition));
    }
  }

  #slotsOf(definition: string): number {
    return this.#settings.get(definition)?.groupSlots ?? 1;
  }

  #learnTransaction(call: CallOf<"transaction">, answers: readonly InnerAnswer[]): void {
    if (call.ends === "rollback") return;
    for (const [index, inner] of call.calls.entries()) {
      const answer = answers[index];
      if (answer !== undefined) this.#learnInner(inner, answer);
    }
  }

  #learnInner(inner: InnerCall, answer: InnerAnswer): void {
    if (inner.do !== "complete") this.#learnTasks(inner, answer as Answers["advanceWatermark"]);
    else this.#learnCompletion(inner, (answer as Answers["complete"]).status);
  }

  /** What operators end and bring back. */
  #learnEnds(outcome: Outcome): void {
    if (outcome.did === "cancel") {
      for (const { taskId, outcome: what } of outcome.answer.results) {
        if (what === "cancelled") this.fates.end(this.#task(taskId), "cancelled");
      }
    }
    if (outcome.did === "redrive" || outcome.did === "redriveFound") {
      for (const { taskId, outcome: what } of outcome.answer.results) {
        if (what === "redriven") this.fates.redrive(this.#task(taskId));
      }
    }
  }

  #leave(execution: string, gone: readonly { readonly task: string }[]): void {
    this.holdings.leave(
      this.#execution(execution),
      gone.map(({ task }) => this.#task(task)),
    );
  }

  #task(name: string): string {
    return this.#idOf("task", name);
  }

  #execution(name: string): string {
    return this.#idOf("execution", name);
  }

  #fence(name: string): string {
    return this.#idOf("fence", name);
  }
}

/** One group, for all callers. */
function groupOf(group: {
  readonly definition: string;
  readonly group: string;
  readonly scope: "definition" | "global";
}): string {
  return `${group.group} of ${group.scope === "global" ? "all" : group.definition}`;
}
