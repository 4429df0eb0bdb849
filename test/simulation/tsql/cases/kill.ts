import type { World } from "../engine/world";
import type { Run, Scenario } from "../schedule/run";
import { runAlone } from "../schedule/step";
import type { Call } from "./calls";
import type { CaseOptions, SetupStep } from "./model-case";
import { brokenInvariants, brokenQuiet } from "./promises";
import { requestOf } from "./requests";
import { prepareWorld } from "./scenario";
import { committedRows, sharedTables, tablesAsText } from "./table-rows";

/*
 * One call whose connection is cut at every step (S0.19): the tables are as before or as after, nothing stays locked, and
 * the same call, made again, comes to what it would have come to (P6).
 */
export interface KillCase {
  readonly name: string;
  readonly setup: readonly SetupStep[];
  readonly call: Call;
}

export function killScenario(kill: KillCase, how: CaseOptions): Scenario {
  const { world } = prepareWorld(kill, how);
  const request = requestOf(kill.call);
  const before = tablesAsText(world);
  const finished = world.fork();
  runAlone(finished.connect(), request);
  const after = { text: tablesAsText(finished), shape: shapeOf(finished) };
  return {
    world: () => world.fork(),
    callers: [{ name: "caller", next: (answers) => (answers.length === 0 ? request : undefined) }],
    cuttable: [0],
    atEnd: (run) => {
      const text = tablesAsText(run.world);
      if (text !== before && text !== after.text) return "S0.19: neither all nor nothing";
      return brokenQuiet(run) ?? brokenInvariants(run) ?? brokenRepeat(run, request, after.shape);
    },
  };
}

function brokenRepeat(
  run: Run,
  request: ReturnType<typeof requestOf>,
  shape: string,
): string | undefined {
  const { errors } = runAlone(run.world.connect(), request);
  const [error] = errors;
  if (error !== undefined)
    return `P6: the repeat ends in error ${String(error.number)}: ${error.message}`;
  return shapeOf(run.world) === shape ? undefined : "P6: the repeat comes to something else";
}

/** What the tables hold, without numbers that are drawn anew. */
function shapeOf(world: World): string {
  const drawn = /Id$|Fence|^Answer$/;
  return sharedTables(world)
    .map((name) => {
      const rows = committedRows(world, name).map((row) =>
        Object.entries(row)
          .filter(([column]) => !drawn.test(column))
          .map(([column, value]) =>
            column === "ExecutionTokens" ? tokensOnly(String(value)) : String(value),
          )
          .join(","),
      );
      return [name, ...rows.sort()].join("\n");
    })
    .join("\n");
}

/** Which tokens are held and which are free, without their ids. */
function tokensOnly(text: string): string {
  return (text.match(/S:[01],G:\d+/g) ?? []).map((token) => token.slice(0, 3)).join();
}
