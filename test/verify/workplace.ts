import type { EngineName } from "../tsql-server/engine/options";
import type { LockViewKind } from "./lock-view";

/** Where the work is done: nothing that was there before is touched, and all of it goes at the end. */
export interface Workplace {
  /** The verified parts. */
  readonly server: string;
  /** The product's schema is made here. */
  readonly url: string;
  /** For people: the objects made. */
  readonly what: string;
  /** Litmus tests make their tables in this schema. */
  readonly litmusSchema: string;
  /** Ways of locking that the database can be switched to, as the model names them; the product runs on the last one. */
  readonly engines: readonly EngineName[];
  readonly lockView: LockViewKind;
  readonly isSimulated: boolean;
  /** Product calls are made by members of the shipped roles; where no login can be made, by the owner. */
  readonly mayMakeLogins: boolean;
  switchTo(engine: EngineName): Promise<void>;
  /** Removes the objects made. Safe to repeat. */
  remove(): Promise<void>;
}

/** The work can't be done here; the message tells why and what to do. */
export class WorkplaceError extends Error {}
