import type { World } from "../../tsql-server/engine/world";
import type { Run, Scenario } from "../../tsql-server/schedule/run";
import { runAlone } from "../../tsql-server/schedule/step";
import type { Call } from "./calls";
import type { CaseOptions, SetupStep } from "./model-case";
import { brokenInvariants, brokenQuiet } from "./promises";
import { requestOf } from "./requests";
import { prepareWorld } from "./scenario";
import { committedRows, sharedTables, tablesAsText } from "./table-rows";

/*
 * One call whose connection is cut at every step (S0.19): the tables are as before or as after, nothing stays locked, and
 * the same call, made again, has the outcome that it would have had.
 */
export interface KillCase {
  readonly name: string;
  readonly setup: readonly SetupStep[];
  readonly call: Call;
  /** A table in which each repeat leaves a row of its own. */
  readonly repeatAdds?: string;
}

export function killScenario(kill: KillCase, how: CaseOptions): Scenario {
  const { world } = prepareWorld(kill, how);
  const request = requestOf(kill.call);
  const before = tablesAsText(world);
  const finished = world.fork();
  runAlone(finished.connect(), request);
  const after = { text: tablesAsText(finished), shape: shapeOf(finished, kill.repeatAdds) };
  return {
    world: () => world.fork(),
    callers: [{ name: "caller", next: (answers) => (answers.length === 0 ? request : undefined) }],
    cuttable: [0],
    atEnd: (run) => {
      const text = tablesAsText(run.world);
      if (text !== before && text !== after.text) return "S0.19: neither all nor nothing";
      return (
        brokenQuiet(run) ??
        brokenInvariants(run) ??
        brokenRepeat(run, request, { ...after, adds: kill.repeatAdds })
      );
    },
  };
}

function brokenRepeat(
  run: Run,
  request: ReturnType<typeof requestOf>,
  { shape, adds }: { readonly shape: string; readonly adds: string | undefined },
): string | undefined {
  const { errors } = runAlone(run.world.connect(), request);
  const [error] = errors;
  if (error !== undefined)
    return `once: the repeat ends in error ${String(error.number)}: ${error.message}`;
  return shapeOf(run.world, adds) === shape
    ? undefined
    : "once: the repeat comes to something else";
}

/** The rows of the tables but that one, without numbers that are drawn anew. */
function shapeOf(world: World, without: string | undefined): string {
  const drawn = /Id$|Fence|^Answer$/;
  return sharedTables(world)
    .filter((name) => name !== without)
    .map((name) => {
      const rows = committedRows(world, name).map((row) =>
        Object.entries(row)
          .filter(([column]) => !drawn.test(column))
          .map(([column, value]) => (shownBy[column] ?? String)(value))
          .join(","),
      );
      return [name, ...rows.sort()].join("\n");
    })
    .join("\n");
}

/** Whose a token is, or was last: a repeat may be another execution. */
const whose = (value: unknown): string => (value === 0 ? "nobody" : "an execution");

/** Which tokens of a shared limit are held and which are free, without their ids. */
const tokensOnly = (text: unknown): string =>
  (String(text).match(/S:[01],G:\d+/g) ?? []).map((token) => token.slice(0, 3)).join();

const shownBy: Readonly<Record<string, (value: unknown) => string>> = {
  HeldBy: whose,
  LastHeldBy: whose,
  ExecutionTokens: tokensOnly,
};
