import type { Print, RaiseError } from "../syntax/ast-statements";
import type { SqlValue } from "../values";
import type { Binder } from "./bind/binder";
import { convertTo } from "./bind/conversions";
import { bindExpression } from "./bind/expressions";
import { Scope } from "./bind/scope";
import type { Runner } from "./program";
import { SqlError } from "./sql-error";
import { intType, textMax } from "./types";

/** RAISERROR: unlike THROW it doesn't honour XACT_ABORT, and the batch goes on [doc: RAISERROR, THROW]. */
export function compileRaiseError(statement: RaiseError, binder: Binder): Runner {
  const scope = new Scope(binder);
  const message = bindExpression(statement.message, scope);
  const severity = convertTo(bindExpression(statement.severity, scope), intType);
  const state = convertTo(bindExpression(statement.state, scope), intType);
  const parts = statement.arguments.map((argument) => bindExpression(argument, scope));
  return (frame) => {
    const values = parts.map((part) => part.evaluate(frame));
    const text = format(String(message.evaluate(frame)), values).slice(0, 2047);
    const level = Number(severity.evaluate(frame));
    const options = { state: Number(state.evaluate(frame)), class: level };
    const { connection } = frame;
    if (level <= 10) {
      connection.requireAnswer().information({ number: 50_000, text, ...options });
      return "next";
    }
    const error = new SqlError(50_000, text, options);
    error.isMild = true;
    throw error;
  };
}

/** %s, %d, %i, %u, %x and %%. */
function format(text: string, values: readonly SqlValue[]): string {
  let next = 0;
  return text.replace(/%(?:%|[-+0 ]*\d*(?:I64)?[sdiux])/g, (form) => {
    if (form === "%%") return "%";
    const value = values[next];
    next += 1;
    if (value === null || value === undefined) return "(null)";
    return form.endsWith("x") ? Number(value).toString(16) : String(value);
  });
}

export function compilePrint(statement: Print, binder: Binder): Runner {
  const message = convertTo(bindExpression(statement.message, new Scope(binder)), textMax);
  return (frame) => {
    const text = String(message.evaluate(frame) ?? "").slice(0, 4000);
    frame.connection.requireAnswer().information({ number: 0, text, class: 0, state: 1 });
    return "next";
  };
}
