import { messageOf } from "../../core/foreign-value";
import { executionNumber } from "../../core/ids";
import { limits } from "../../core/limits";
import type { ReleaseSurplusAnswer, ReleaseTokensAnswer } from "../../ports/task-store";
import type { WorkerEnvironment } from "../environment";
import { instants } from "../environment";
import { AskOutlook, retryMaxMs } from "./ask-outlook";
import type { Denial } from "./ask-outlook";
import { GivenUpLeases } from "./given-up-leases";
import { IdleTokens } from "./idle-tokens";
import { register } from "../client/register";
import { startExecution } from "../client/start-execution";
import type { Asked } from "../client/start-execution";
import { nextPoolCall, tokensKept } from "./next-pool-call";
import type { PoolCall, ReleaseCall } from "./next-pool-call";
import { reclaim } from "./run-worker";
import { returnMaxMs } from "./return-slots";
import type { ReturnSlots } from "./return-slots";
import { TokenLease } from "./token-lease";
import type { HeldCall, TokenGrant, TokenNews } from "./token-lease";
import type { TurnShare } from "./turn-share";
import { WaitingCalls } from "./waiting-calls";
import type { TokenAsk, WaitingCall } from "./waiting-calls";
import type { Definition } from "../define/task-kind";

/** What the pools of a process share. */
export interface PoolSurroundings {
  readonly environment: WorkerEnvironment;
  readonly turn: TurnShare;
  /** Gives back what other pools of this process hold idle of this one's limits. False: none holds any. */
  freeOthers(pool: LimitPool): Promise<boolean>;
  /** Renews the lease until the returned function is called. */
  keep(lease: TokenLease): () => void;
  /** Of all calls of this process on the same limits. */
  readonly returns: ReturnSlots;
  /** Calls that wait on these limits beside those of this pool. */
  waitingBeside(): number;
}

interface Waiting extends WaitingCall<Waiting> {
  readonly settle: (answer: HeldCall | Denial) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * The tokens that the calls of one process hold of one limit. Calls share one execution: a free token of the process costs no
 * call of the database. Invariants: bodies run on at most as many tokens as the database has confirmed; none begins on a lease
 * that isn't trusted, or on a token that is wanted back or on its way back; waiting calls are served in the order in which
 * they came; one call about tokens is in flight at a time, and no body waits for it while a token is free.
 */
export class LimitPool implements TokenNews {
  /** Its settings are registered by the next ask, where the database has others. */
  definition: Definition;
  readonly #environment: WorkerEnvironment;
  readonly #surroundings: PoolSurroundings;
  readonly #waiting: WaitingCalls<Waiting>;
  readonly #outlook: AskOutlook;
  readonly #idle: IdleTokens;
  readonly #givenUp: GivenUpLeases;
  #lease: TokenLease | null = null;
  #endLease: (() => void) | null = null;
  /** So many tokens are wanted back; no body begins on them. */
  #wantedBack = 0;
  #isPaused = false;
  #isStopping = false;
  /** So many may be on their way back; the answer says how many are. */
  #leaving = 0;
  #calling: Promise<void> | null = null;
  /** The call in flight asks for tokens. */
  #isAsking = false;
  /** Of calls that ask for tokens. */
  #answers = 0;
  #isCallPlanned = false;
  /** The look at the instant of the next ask. */
  #look: { readonly atMs: number; readonly cancel: () => void } | null = null;

  constructor(definition: Definition, surroundings: PoolSurroundings) {
    this.definition = definition;
    this.#surroundings = surroundings;
    this.#environment = surroundings.environment;
    const { clock, timers } = this.#environment;
    this.#waiting = new WaitingCalls(timers, clock);
    this.#outlook = new AskOutlook(this.#environment, definition.settings.rate ?? null);
    this.#givenUp = new GivenUpLeases(this.#environment);
    this.#idle = new IdleTokens(timers, {
      isContended: () => this.#outlook.isContended,
      onDue: () => {
        this.#planCall();
      },
    });
  }

  /** Tokens for one call: at once where this process has some free and no other call waits. Never throws at once. */
  take(ask: TokenAsk): HeldCall | Denial | Promise<HeldCall | Denial> {
    if (ask.signal?.aborted === true) return { reason: "aborted", retryInMs: 0 };
    if (this.#isStopping) return { reason: "stopping", retryInMs: retryMaxMs };
    const held = this.#waiting.size === 0 ? this.#begin(ask.want) : null;
    if (held !== null) return held;
    if (this.#isHopeless(ask.waitMs)) return this.#outlook.denial;
    return new Promise((settle, fail) => {
      const { want, waitMs, signal } = ask;
      const answersBefore = this.#answers;
      const leave = (reason: "late" | "aborted"): void => {
        // A call that waits gets no less than one that doesn't: it stays for the first answer since it came.
        const isAsking = this.#isAsking || (this.#isCallPlanned && this.#mayAsk());
        if (reason === "late" && this.#answers === answersBefore && isAsking)
          this.#waiting.add({ want, waitMs: 0, signal, settle, fail, leave, place: null });
        else settle(reason === "late" ? this.#lateDenial() : { reason, retryInMs: 0 });
        // It may have wanted more than those behind it.
        this.#serve();
      };
      this.#waiting.add({ want, waitMs, signal, settle, fail, leave, place: null });
      this.#planCall();
    });
  }

  /** The body has settled; once per call. */
  giveBack(call: HeldCall): void {
    const { lease } = call;
    lease.end(call);
    if (lease !== this.#lease) {
      this.#endGivenUp(lease);
      return;
    }
    if (this.#waiting.size > 0) this.#serve();
    if (lease.count === lease.inUse) return;
    if (this.#isStopping) this.#idle.releaseAll();
    else this.#idle.note(lease.count - lease.inUse);
    if (this.#wantedBack > 0 || this.#isStopping || this.#isPaused) this.#planCall();
  }

  onRenewed(lease: TokenLease, told: { wantedBack: number; isPaused: boolean }): void {
    if (lease !== this.#lease) return;
    this.#wantedBack = told.wantedBack;
    this.#isPaused = told.isPaused;
    if (told.isPaused) {
      this.#denyAll({ reason: "paused", retryInMs: retryMaxMs });
      this.#idle.releaseAll();
    } else if (this.#wantedBack > 0) {
      this.#outlook.noteContention();
      this.#denyImpatient();
    }
    this.#serve();
  }

  onLost(lease: TokenLease): void {
    if (lease !== this.#lease) return;
    this.#environment.logger.warn("the lease of tokens was lost; the bodies were told to stop", {
      definition: this.definition.name,
      execution: executionNumber(lease.executionId),
    });
    this.#closeLease();
    this.#endGivenUp(lease);
    this.#outlook.askAtOnce();
    this.#planCall();
  }

  /** Calls that wait for tokens. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Does it hold tokens that no body runs on, and that no call here waits for? */
  get isIdle(): boolean {
    const lease = this.#lease;
    return lease !== null && lease.count > lease.inUse && this.#waiting.size === 0;
  }

  /** Gives the idle tokens back at once. Never throws. */
  async giveIdle(): Promise<void> {
    this.#idle.releaseAll();
    await this.#calling;
    await this.#call();
  }

  /** Denies waiting calls, tells bodies to stop, begins none any more, and gives back what none runs on. Never throws. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#givenUp.stop();
    this.#lease?.stop();
    this.#denyAll({ reason: "stopping", retryInMs: retryMaxMs });
    this.#planLook(this.#now());
    await this.giveIdle();
  }

  /** Begins a body, if so many tokens are free for it just now. */
  #begin(want: number): HeldCall | null {
    const lease = this.#lease;
    if (lease === null || this.#isPaused) return null;
    if (lease.count - lease.inUse - this.#leaving - this.#wantedBack < want) return null;
    const now = instants(this.#environment.clock);
    if (!this.#surroundings.turn.holdsAt(now.monotonicMs)) {
      this.#surroundings.turn.onNext(this.#onTurn);
      return null;
    }
    if (!lease.holdsAt(now)) {
      lease.lose();
      return null;
    }
    const call = lease.begin(want);
    this.#idle.use(lease.count - lease.inUse);
    return call;
  }

  /** Begins the bodies of waiting calls, in their order, as long as there are tokens; then decides what to ask. */
  #serve(): void {
    for (;;) {
      const { first } = this.#waiting;
      if (first === undefined) break;
      const held = this.#begin(first.want);
      if (held === null) break;
      this.#waiting.remove(first);
      this.#outlook.noteServed();
      this.#surroundings.returns.noteServed(this.#now());
      first.settle(held);
    }
    this.#planCall();
  }

  /** Is the answer known without asking? A pause lasts longer than any wait here. */
  #isHopeless(waitMs: number): boolean {
    if (this.#isPaused) return true;
    if (waitMs > 0 && this.#outlook.denial.reason !== "paused") return false;
    if (this.#wantedBack > 0) return true;
    return this.#calling === null && !this.#mayAsk();
  }

  /** Of a call that has waited in vain. */
  #lateDenial(): Denial {
    const { denial } = this.#outlook;
    if (denial.reason !== "limited") return denial;
    const { returns, waitingBeside } = this.#surroundings;
    const paced = returns.next(this.#now(), this.#waiting.size + waitingBeside());
    // Those that were denied together don't come back together.
    const varied = denial.retryInMs * (1 + this.#environment.random.fraction() / 2);
    return { ...denial, retryInMs: paced ?? Math.min(Math.round(varied), returnMaxMs) };
  }

  /** Those that wait for one answer only. */
  #denyImpatient(): void {
    for (const call of this.#waiting.takeImpatient()) call.settle(this.#outlook.denial);
  }

  #denyAll(denial: Denial): void {
    this.#outlook.denial = denial;
    for (const call of this.#waiting.take(this.#waiting.all())) call.settle(denial);
  }

  #nextCall(nowMs: number): PoolCall | null {
    return nextPoolCall({
      lease: this.#lease,
      firstWants: this.#waiting.first?.want ?? null,
      mayAsk: this.#outlook.mayAskAt(nowMs),
      wantedBack: this.#wantedBack,
      idleDue: this.#idle.due,
      isPaused: this.#isPaused,
    });
  }

  #now(): number {
    return this.#environment.clock.monotonicMs();
  }

  #mayAsk(): boolean {
    return this.#outlook.mayAskAt(this.#now());
  }

  /** In a turn of its own: calls that come in one turn are asked for together. */
  #planCall(): void {
    if (this.#calling !== null || this.#isCallPlanned) return;
    // One instant for both: between two of them the time of the next ask might pass, and no look would be planned.
    const nowMs = this.#now();
    if (this.#nextCall(nowMs) === null) {
      this.#planLook(nowMs);
      return;
    }
    this.#isCallPlanned = true;
    this.#environment.timers.soon(() => {
      this.#isCallPlanned = false;
      void this.#call();
    });
  }

  /** While a call waits there is a look when the database may be asked again. */
  #planLook(nowMs: number): void {
    const { askAtMs: atMs } = this.#outlook;
    const isWaiting = this.#waiting.size > 0;
    if (isWaiting && this.#look?.atMs === atMs) return;
    this.#look?.cancel();
    this.#look = null;
    const inMs = atMs - nowMs;
    if (!isWaiting || inMs <= 0) return;
    const cancel = this.#environment.timers.after(inMs, () => {
      this.#look = null;
      this.#planCall();
    });
    this.#look = { atMs, cancel };
  }

  /** One for all turns. */
  readonly #onTurn = (): void => {
    this.#serve();
  };

  async #call(): Promise<void> {
    const next = this.#nextCall(this.#now());
    if (this.#calling !== null) return;
    if (next === null) {
      // The wanted tokens have come meanwhile, perhaps after the share of that turn was used up.
      this.#serve();
      return;
    }
    this.#isAsking = next === "start" || next === "acquire";
    this.#calling = this.#run(next);
    await this.#calling;
    this.#calling = null;
    if (this.#isAsking) this.#answers += 1;
    this.#isAsking = false;
    this.#serve();
    if (this.#lease !== null) this.#idle.note(this.#lease.count - this.#lease.inUse);
  }

  async #run(next: PoolCall): Promise<void> {
    const asked = this.#waiting.all();
    try {
      if (next === "start") await this.#start();
      else if (this.#lease === null) return;
      else if (next === "acquire") await this.#acquire(this.#lease);
      else await this.#release(this.#lease, next);
    } catch (error) {
      this.#onError(next, error);
      if (next === "start") for (const call of this.#waiting.take(asked)) call.fail(error);
      for (const call of this.#waiting.takeImpatient()) call.fail(error);
    }
  }

  async #start(): Promise<void> {
    let asked = await this.#ask();
    // What this process keeps for calls that may come is no reason to deny one that is there, unless all have left meanwhile.
    if (
      asked.started.status === "limited" &&
      (await this.#surroundings.freeOthers(this)) &&
      this.#waiting.size > 0
    )
      asked = await this.#ask();
    const { sentAt, started } = asked;
    if (started.status !== "started" || started.executionId === null) {
      this.#outlook.noteDenial(started);
      if (started.status === "paused") this.#denyAll(this.#outlook.denial);
      else this.#denyImpatient();
      return;
    }
    this.#openLease({
      definition: this.definition.name,
      executionId: started.executionId,
      tokens: started.tokens,
      fence: started.tokenFence,
      sentAt,
      leaseMs: started.leaseMs ?? this.definition.settings.leaseMs,
    });
    this.#outlook.noteStart();
  }

  /** Asks for a first execution, with as many tokens as calls wait for. */
  async #ask(): Promise<Asked> {
    const want = Math.min(this.#waiting.wanted, limits.tokensMax);
    const asked = await startExecution(
      this.#environment,
      { definition: this.definition, want, needsReady: false },
      () => register(this.#environment, this.definition),
    );
    if (asked.started.deadHolders > 0) this.#reclaim();
    return asked;
  }

  async #acquire(lease: TokenLease): Promise<void> {
    const { store } = this.#environment;
    const want = Math.min(lease.inUse + this.#waiting.wanted, limits.tokensMax);
    this.#outlook.noteAsk();
    const { executionId } = lease;
    const answer = await lease.calls.during(store.acquireTokens({ executionId, want }));
    if (answer.deadHolders > 0) this.#reclaim();
    if (answer.status === "fenced") {
      lease.lose();
      return;
    }
    if (answer.granted > 0) {
      lease.count = answer.tokens;
      lease.fence = answer.tokenFence;
    }
    const isMet = answer.tokens >= want;
    this.#outlook.noteAnswer(answer, isMet);
    this.#serve();
    if (!isMet) this.#denyImpatient();
  }

  /** Gives back requested or idle tokens. Bodies begin meanwhile on the tokens that are kept for certain. */
  async #release(lease: TokenLease, next: ReleaseCall): Promise<void> {
    const { executionId, count } = lease;
    const { store } = this.#environment;
    const keep = tokensKept(next, lease, { wantedBack: this.#wantedBack, idleDue: this.#idle.due });
    if (next === "part") this.#outlook.notePart();
    if (next !== "releaseRequested" && keep === 0) {
      this.#closeLease();
      const { woken } = await store.finishExecution({ executionId }).catch((error: unknown) => {
        this.#endGivenUp(lease);
        throw error;
      });
      this.#wake(woken);
      return;
    }
    this.#leaving = count - keep;
    if (next === "releaseRequested")
      this.#wantedBack = Math.max(this.#wantedBack - this.#leaving, 0);
    const call = async (): Promise<ReleaseTokensAnswer | ReleaseSurplusAnswer> =>
      next === "releaseRequested"
        ? store.releaseSurplus({ executionId, keep })
        : store.releaseTokens({ executionId, keep });
    const answer = await lease.calls
      .during(call())
      .catch((error: unknown) => {
        // Whether the others are gone isn't known: no body begins on them any more.
        lease.count = keep;
        throw error;
      })
      .finally(() => {
        this.#leaving = 0;
      });
    if (answer.status === "fenced") {
      lease.lose();
      return;
    }
    lease.count = answer.tokens;
    this.#wake(answer.woken);
    if (!("overLimit" in answer)) {
      this.#idle.forget();
      return;
    }
    this.#wantedBack = answer.overLimit;
    if (answer.freed > 0 || answer.tokens < count) this.#outlook.noteGift();
    // Others wait and no call here does: the remaining tokens are theirs, too.
    if (this.#waiting.size === 0) this.#idle.releaseAll();
  }

  /** Tasks of these definitions can use what went back. */
  #wake(definitions: readonly string[]): void {
    for (const name of definitions) void this.#environment.wakeUp.hint(name);
  }

  #onError(next: PoolCall, error: unknown): void {
    const { logger } = this.#environment;
    this.#outlook.noteError();
    this.#wantedBack = 0;
    this.#idle.forget();
    const text =
      next === "start" || next === "acquire"
        ? "tokens could not be asked for"
        : "tokens could not be given back; they come back when the lease ends";
    logger.error(text, { definition: this.definition.name, error: messageOf(error) });
  }

  #openLease(grant: TokenGrant): void {
    const lease = new TokenLease(this.#environment, grant, this);
    // The answer came when its lease was over.
    if (lease.isLost) return;
    this.#lease = lease;
    this.#endLease = this.#surroundings.keep(lease);
  }

  #closeLease(): void {
    this.#lease?.close();
    this.#endLease?.();
    this.#lease = null;
    this.#endLease = null;
    this.#isPaused = false;
    this.#wantedBack = 0;
    this.#idle.forget();
  }

  /** While a body runs on, its tokens stay with the lost lease, to its end. */
  #endGivenUp({ inUse, executionId, leaseMs }: TokenLease): void {
    if (inUse === 0) this.#givenUp.end(executionId, leaseMs);
  }

  #reclaim(): void {
    const { logger } = this.#environment;
    reclaim(this.#environment).catch((error: unknown) => {
      logger.warn("what dead workers held could not be taken back", { error: messageOf(error) });
    });
  }
}
