import { SeededRandom } from "../engine/random";
import type { EngineMessage, EngineRequest } from "./engine-port";

/** What can go wrong between a client and its server, and who says when. */

/** How a connection is lost: closed in order, reset, silent for ever, or taken over by something that speaks no TDS. */
export type Manner = "fin" | "rst" | "silence" | "garbage";

/** Where the endpoint asks whether something goes wrong. */
export type FaultPoint =
  | { place: "connect" | "prelogin" | "login"; connection: number }
  | { place: "request"; connection: number; request: EngineRequest; isInTransaction: boolean };

/**
 * What goes wrong at a point. `before`: nothing was done. `executed`: the request was run, its answer is lost.
 * `mid answer`: so many tokens came. `answered`: the connection is lost behind the answer. At places other than a
 * request there is only `before`, and at a login its answer cut short or an error instead of it.
 */
export type Fault =
  | { kind: "cut"; at: "before" | "executed" | "answered"; manner: Manner }
  | { kind: "cut"; at: "mid answer"; tokens: number; manner: Manner }
  /** The server answers with this error instead of running the request. */
  | { kind: "error"; error: ServerError }
  /** The request is run, and no code listens when the client gives it up. */
  | { kind: "deaf" };

/** Decides at each point; undefined: nothing goes wrong. */
export type FaultSource = (point: FaultPoint) => Fault | undefined;

/** An error of the server itself, and what it does besides. */
export interface ServerError {
  message: EngineMessage;
  /** The transaction is rolled back, and the client told so. */
  endsTransaction: boolean;
  /** The server closes the connection after its answer. */
  endsConnection: boolean;
}

function serverError(
  message: Pick<EngineMessage, "number" | "state" | "class" | "text">,
  effects: { endsTransaction: boolean; endsConnection: boolean },
): ServerError {
  return { message: { ...message, procedure: "", line: 1 }, ...effects };
}

/** Texts and severities as in sys.messages [doc: Database Engine events and errors; Azure SQL transient errors]. */
export const serverErrors = {
  /** Class 13; the whole transaction is undone. */
  deadlock: serverError(
    {
      number: 1205,
      state: 51,
      class: 13,
      text: "Transaction (Process ID 51) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.",
    },
    { endsTransaction: true, endsConnection: false },
  ),
  /** The transaction goes on unless XACT_ABORT is on, as it is in procedures that set it. */
  lockTimeout: serverError(
    { number: 1222, state: 51, class: 16, text: "Lock request time out period exceeded." },
    { endsTransaction: true, endsConnection: false },
  ),
  databaseUnavailable: serverError(
    {
      number: 40613,
      state: 1,
      class: 17,
      text: "Database 'Simulated' on server 'simulated' is not currently available. Please retry the connection later.",
    },
    { endsTransaction: false, endsConnection: true },
  ),
  busy: serverError(
    {
      number: 40501,
      state: 1,
      class: 20,
      text: "The service is currently busy. Retry the request after 10 seconds.",
    },
    { endsTransaction: false, endsConnection: true },
  ),
} as const satisfies Record<string, ServerError>;

/** Lets `fault` happen at the first point that fits, then nothing more. */
export function once(fits: (point: FaultPoint) => boolean, fault: Fault): FaultSource {
  let isArmed = true;
  return (point) => {
    if (!isArmed || !fits(point)) return undefined;
    isArmed = false;
    return fault;
  };
}

interface SeededOptions {
  seed: number;
  /** Share of points at which something goes wrong, 0..1. */
  rate: number;
  faults: readonly [Fault, ...Fault[]];
  /** Points that stay whole, such as the checks after a run; default: none. */
  spares?: (point: FaultPoint) => boolean;
}

/** Chance decides, the same for the same seed and the same order of points. */
export function seeded(options: SeededOptions): FaultSource {
  const random = new SeededRandom(options.seed);
  const { rate, faults } = options;
  return (point) => {
    if (options.spares?.(point) === true || random.fraction() >= rate) return undefined;
    const fault = faults[Math.floor(random.fraction() * faults.length)] ?? faults[0];
    return point.place === "request" || fits(point.place, fault) ? fault : undefined;
  };
}

function fits(place: "connect" | "prelogin" | "login", fault: Fault): boolean {
  if (fault.kind === "error") return place === "login";
  return fault.kind === "cut" && fault.at === "before";
}
