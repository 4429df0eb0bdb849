import type { AsyncCommand } from "fast-check";
import { Dice } from "../../support/dice";
import type { Action, Call } from "./call";
import type { CallId } from "./call-names";
import type { HistoryRun } from "./history-run";
import type { Knowledge } from "./knowledge";
import { chooseAction } from "./random-calls";
import type { Side } from "./side";

/**
 * What a command asks for. Drawn ones come out of their dice and of what the answers so far tell, when their turn first comes; from
 * then on they are what they became: while a history is shortened, the rest must not choose anew.
 */
export class Turn {
  readonly #dice: Dice;
  #call: Call | undefined;

  constructor(dice: Dice, call?: Call) {
    this.#dice = dice;
    this.#call = call;
  }

  callFor(known: Knowledge, id: CallId): Call {
    return (this.#call ??= numbered(id, chooseAction(this.#dice, known)));
  }
}

/** One turn of a history as fast-check has it: the model is the list of answers so far, the real part are the stores. */
export class HistoryCommand implements AsyncCommand<HistoryRun, readonly Side[]> {
  readonly #turn: Turn;
  readonly #connection: number | undefined;

  /** undefined: through the connection that the call names. */
  constructor(turn: Turn, connection?: number) {
    this.#turn = turn;
    this.#connection = connection;
  }

  /** Whether its names are there yet only the call itself finds out. */
  check(): boolean {
    return true;
  }

  async run(model: HistoryRun, real: readonly Side[]): Promise<void> {
    const call = this.#turn.callFor(model.known, String(model.calls.length + 1));
    const connection = this.#connection ?? call.connection ?? 0;
    await model.make(call, real, connection);
  }

  toString(): string {
    return "a turn";
  }
}

/** Turns of a history by seed: all of them throw the same dice. */
export function turnsOf(dice: Dice, length: number): HistoryCommand[] {
  return Array.from({ length }, (_, index) => new HistoryCommand(new Turn(dice), index));
}

/** Turns that ask for given calls. */
export function turnsFor(calls: readonly Call[]): HistoryCommand[] {
  const unused = new Dice(0);
  return calls.map((call) => new HistoryCommand(new Turn(unused, call)));
}

/** The action as the call of that name, and the calls inside its transaction. */
export function numbered(id: CallId, action: Action): Call {
  if (action.do !== "transaction") return { ...action, id };
  return {
    ...action,
    id,
    calls: action.calls.map((call) => ({ ...call, id: `${id}/${call.id}` })),
  };
}
