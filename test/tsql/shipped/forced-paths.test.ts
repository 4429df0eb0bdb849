import { describe, expect, test } from "@jest/globals";
import { runAlone } from "../../tsql-server/schedule/step";
import { callOf } from "../../tsql-server/engine/call";
import type { EngineOptions } from "../../tsql-server/engine/options";
import { engines } from "./engines";
import { shippedWorld } from "./shipped-world";

/* Shipped modules on another plan than the rule's: safety may not depend on the plan. */

describe("another way than the rule's", () => {
  /** Accesses to definitions in a pause of one, with what the clustered index was asked for. */
  function pauseOne(forcedPaths: EngineOptions["forcedPaths"]): { ways: string[]; keys: number } {
    const world = shippedWorld({ ...engines.locking, forcedPaths });
    const connection = world.connect();
    for (const name of ["a", "b", "c"]) {
      runAlone(connection, {
        kind: "batch",
        sql: `INSERT INTO Taskgate.TaskDefinition (Name, CreatedAt) VALUES (N'${name}', SYSUTCDATETIME());`,
      });
    }
    const ways = new Set<string>();
    world.onScan = (scan): void => {
      if (scan.schema.name !== "TaskDefinition") return;
      const { index, isWholeUniqueKey } = scan.plan.path;
      ways.add(`${scan.accessName} ${index.name}${isWholeUniqueKey ? " whole key" : ""}`);
    };
    const pause = callOf(world, "Taskgate.PauseDefinition", { Name: "b", ChangedBy: "me" });
    expect(runAlone(connection, pause).errors).toEqual([]);
    return { ways: [...ways], keys: connection.metrics.rowsRead };
  }

  test("another way can be forced on one access of a shipped procedure; the answer is the same", () => {
    const plain = pauseOne(new Map());
    const [first = ""] = plain.ways;
    expect(first).toMatch(/^Taskgate\.\w+:\d+ d UQ_TaskDefinition_Name whole key$/);

    const access = first.split(" ").slice(0, 2).join(" ");
    const forced = pauseOne(new Map([[access, { index: "PK_TaskDefinition", isScan: true }]]));

    expect(forced.ways[0]).toBe(`${access} PK_TaskDefinition`);
    expect(forced.ways.slice(1)).toEqual(plain.ways.slice(1));
    expect(forced.keys).toBe(plain.keys + 2);
  });
});
