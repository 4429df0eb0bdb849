import type {
  IsolationLevel,
  SessionOption,
  SetDeadlockPriority,
  SetIdentityInsert,
  SetIsolation,
  SetLockTimeout,
  SetOptions,
  SetVariable,
} from "./ast-statements";
import { DefinitionParser } from "./definition-parser";

type SetStatement =
  | SetVariable
  | SetOptions
  | SetLockTimeout
  | SetDeadlockPriority
  | SetIsolation
  | SetIdentityInsert;

const switches: readonly SessionOption[] = [
  "ANSI_NULLS",
  "ANSI_NULL_DFLT_ON",
  "ANSI_PADDING",
  "ANSI_WARNINGS",
  "ARITHABORT",
  "CONCAT_NULL_YIELDS_NULL",
  "CURSOR_CLOSE_ON_COMMIT",
  "IMPLICIT_TRANSACTIONS",
  "NOCOUNT",
  "NUMERIC_ROUNDABORT",
  "QUOTED_IDENTIFIER",
  "XACT_ABORT",
];

const levels: readonly IsolationLevel[] = [
  "READ UNCOMMITTED",
  "READ COMMITTED",
  "REPEATABLE READ",
  "SERIALIZABLE",
  "SNAPSHOT",
];

const priorities = { LOW: -5, NORMAL: 0, HIGH: 5 } as const;

/** Reads what begins with SET. */
export abstract class SettingParser extends DefinitionParser {
  protected set(): SetStatement {
    const start = this.begin();
    this.need("SET");
    if (this.next.kind === "variable") {
      const variable = this.variable();
      const operator = this.assignmentOperator();
      return { ...start, kind: "setVariable", variable, operator, value: this.expression() };
    }
    if (this.take("TRANSACTION", "ISOLATION", "LEVEL")) {
      const level = levels.find((known) => this.take(...known.split(" ")));
      if (level === undefined) this.fail("an isolation level");
      return { ...start, kind: "setIsolation", level };
    }
    if (this.take("LOCK_TIMEOUT")) {
      return { ...start, kind: "setLockTimeout", milliseconds: Number(this.signedNumber()) };
    }
    if (this.take("DEADLOCK_PRIORITY")) {
      return { ...start, kind: "setDeadlockPriority", priority: this.#priority() };
    }
    if (this.take("IDENTITY_INSERT")) {
      const table = this.objectName();
      return { ...start, kind: "setIdentityInsert", table, isOn: this.onOrOff() };
    }
    return { ...start, kind: "setOptions", ...this.#options() };
  }

  #priority(): number {
    if (this.next.kind === "word") {
      return priorities[this.needOneOf(["LOW", "NORMAL", "HIGH"], "LOW, NORMAL or HIGH")];
    }
    const priority = Number(this.signedNumber());
    if (Math.abs(priority) > 10) this.reject(this.previous.line, "expected a priority of -10..10");
    return priority;
  }

  /** Switches share one ON or OFF; a setting with a value stands alone. */
  #options(): Pick<SetOptions, "options" | "isOn"> {
    if (this.take("DATEFIRST")) return this.#valued("DATEFIRST", this.wholeNumber() === 7);
    if (this.take("TEXTSIZE")) return this.#valued("TEXTSIZE", this.signedNumber() >= -1n);
    if (this.take("DATEFORMAT")) return this.#valued("DATEFORMAT", this.take("MDY"));
    if (this.take("LANGUAGE")) return this.#valued("LANGUAGE", this.take("US_ENGLISH"));
    const options = this.list(() =>
      this.marked("option", () => this.needOneOf(switches, "an option of the session")),
    );
    return { options, isOn: this.onOrOff() };
  }

  /** Only the values that a new session has anyway: dates are read and written by these. */
  #valued(option: SessionOption, isDefault: boolean): Pick<SetOptions, "options" | "isOn"> {
    if (!isDefault) this.reject(this.line, `only the default of ${option} is simulated`);
    return { options: [option], isOn: true };
  }
}
