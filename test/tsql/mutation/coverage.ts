import { formatTable } from "../../../shared/terminal/text-table";
import type { Coverage } from "../../tsql-server/engine/metrics";
import type { Statement } from "../../tsql-server/syntax/ast-statements";
import type { Source } from "./source";

/** What of one file was run. Views and functions that are one query have no statements: they aren't listed. */
export interface ModuleCover {
  readonly file: string;
  readonly statements: Share;
  /** Each IF and WHILE both ways. */
  readonly branches: Share;
  /** Unreached code: `171 statement`, `80 never false`. */
  readonly missing: readonly string[];
}

export interface Share {
  readonly hit: number;
  readonly of: number;
}

/** `Taskgate.Work`, as the engine calls the module of a file; undefined: a file that makes no module. */
export function moduleOf(source: Source): string | undefined {
  const [created] = source.batch.statements;
  if (created?.kind !== "createProcedure" && created?.kind !== "createFunction") return undefined;
  const { schema = "dbo", name } = created.name;
  return `${schema}.${name}`;
}

/** What a run covered, by file. */
export function coverOf(sources: readonly Source[], coverage: Coverage): ModuleCover[] {
  return sources.flatMap((source): ModuleCover[] => {
    const counted = source.statements.map(({ statement }) => statement).filter(isCounted);
    const module = moduleOf(source);
    if (module === undefined || counted.length === 0) return [];
    const { statements, branches } = coverage.of(module);
    const ways = counted.filter(isBranching).flatMap(({ statementId, line }) => {
      const branch = branches.get(statementId);
      return [
        { isHit: (branch?.taken ?? 0) > 0, text: `${line} never true` },
        { isHit: (branch?.passed ?? 0) > 0, text: `${line} never false` },
      ];
    });
    const runs = counted.map(({ statementId, line }) => {
      return { isHit: statements.has(statementId), text: `${line} statement` };
    });
    const missing = [...runs, ...ways].filter(({ isHit }) => !isHit).map(({ text }) => text);
    return [{ file: source.name, statements: shareOf(runs), branches: shareOf(ways), missing }];
  });
}

/** All files together. */
export function totalOf(covers: readonly ModuleCover[], what: "statements" | "branches"): Share {
  const sum = (part: keyof Share): number =>
    covers.reduce((total, cover) => total + cover[what][part], 0);
  return { hit: sum("hit"), of: sum("of") };
}

/** 0..1; nothing to reach is reached. */
export function partOf({ hit, of }: Share): number {
  return of === 0 ? 1 : hit / of;
}

/** A table by file, then the unreached code. */
export function formatCoverage(covers: readonly ModuleCover[], width: number): string[] {
  const columns = [
    { title: "", isNumber: false },
    ...["statements", "run", "%", "branches", "taken", "%"].map((title) => {
      return { title, isNumber: true };
    }),
  ];
  const cellsOf = (share: Share): number[] => [
    share.of,
    share.hit,
    Math.floor(partOf(share) * 1_000) / 10,
  ];
  const rows = covers.map((cover) => [
    cover.file,
    ...cellsOf(cover.statements),
    ...cellsOf(cover.branches),
  ]);
  const all = ["all", ...cellsOf(totalOf(covers, "statements"))];
  rows.push([...all, ...cellsOf(totalOf(covers, "branches"))]);
  const missing = covers.flatMap(({ file, missing: texts }) =>
    texts.map((text) => `  ${file}:${text}`),
  );
  const title = "Covered by the contract suite, and by operations that fail at a lock";
  return [
    ...formatTable({ title, columns, rows }, width),
    ...(missing.length === 0 ? [] : ["", "Never reached:", ...missing]),
  ];
}

/** Code that is run for its own sake: not the frame around other code. */
function isCounted({ kind }: Statement): boolean {
  return kind !== "block" && kind !== "createProcedure" && kind !== "createFunction";
}

function isBranching({ kind }: Statement): boolean {
  return kind === "if" || kind === "while";
}

function shareOf(list: readonly { isHit: boolean }[]): Share {
  return { hit: list.filter(({ isHit }) => isHit).length, of: list.length };
}
