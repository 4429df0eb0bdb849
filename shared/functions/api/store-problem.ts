import { InvalidArgumentError } from "../../core/errors";
import { problemsOf } from "../../admin/read-result";
import type { Problem } from "../../admin/read-result";

/** What the database refuses says it in SQL's words, `run_at: expected .. (value)`: a client knows its own members only. */

const sentenceForm = /^([a-z][a-zA-Z_]*(?:\[\d+\])?(?:\.[a-zA-Z]+)?): expected (.+) \((.*)\)$/s;

/** Parameters of SQL that have another name here. */
const names: Readonly<Record<string, string>> = { name: "definition", groupKey: "group" };

/** The problems of an error; of the database's refusal the one that its sentence tells. */
export function problemsToTell(error: unknown): readonly Problem[] {
  const problems = problemsOf(error);
  if (problems.length > 0 || !(error instanceof InvalidArgumentError)) return problems;
  const [, parameter, expected, value] = sentenceForm.exec(error.message) ?? [];
  if (parameter === undefined || expected === undefined || value === undefined) return [];
  const field = parameter.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  return [{ field: names[field] ?? field, value: JSON.stringify(value), expected }];
}
