import { stripVTControlCharacters } from "node:util";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { StoreDialect } from "../../shared/ports/task-store";
import { plantedText } from "../support/planted-setup";
import type { PlantedFault } from "../support/planted-setup";
import type { Stage, StageSetup, StoreChange } from "./stage";

/** One thing that is wrong, and how the scene sees it. */
export interface SceneFault {
  /** How often it is looked for, where it shows in some interleavings only; default 1. */
  readonly tries?: number;
  /** The numbers that it breaks. */
  readonly numbers: string;
  readonly what: string;
  /** What the scene says then. */
  readonly found: RegExp;
  /** A store that does something else. */
  readonly change?: () => StoreChange;
  /** Edits of the store's own text, by dialect. */
  readonly planted?: Partial<Record<StoreDialect, PlantedFault>>;
}

/** Behaviours of the source texts, shown by one body on every store. */
export interface Scene<Kind extends Stage = Stage> {
  readonly numbers: string;
  readonly title: string;
  /** Where it is shown; default: everywhere. */
  readonly on?: readonly StoreDialect[];
  readonly play: (stage: Kind) => Promise<void>;
  readonly faults: readonly SceneFault[];
}

const allDialects: readonly StoreDialect[] = ["memory", "postgres", "mssql"];

/** Where a fault can be planted. */
export function dialectsOf(scene: Pick<Scene, "on">, fault: SceneFault): StoreDialect[] {
  return (scene.on ?? allDialects).filter(
    (dialect) => fault.change !== undefined || fault.planted?.[dialect] !== undefined,
  );
}

/** Each scene that belongs on this store must pass, and must fail with each of its faults; these are in `describeFaults`. */
export function describeScenes<Kind extends Stage>(
  setup: StageSetup<Kind>,
  scenes: readonly Scene<Kind>[],
  describeFaults: (name: string, define: () => void) => void = describe,
): void {
  afterAll(() => setup.close());
  const own = scenes.filter(({ on }) => (on ?? allDialects).includes(setup.dialect));

  describe("the behaviours", () => {
    for (const scene of own) {
      test(`${scene.title} (${scene.numbers})`, async () => {
        const stage = await setup.open();
        try {
          await scene.play(stage);
          expect(await stage.plain.checkInvariants()).toEqual({ status: "sound", findings: [] });
        } finally {
          await stage.close();
        }
      });
    }
  });

  test("each fault still finds its place in the text of the store", () => {
    const faults = own.flatMap((scene) => scene.faults.map(({ planted }) => planted));
    for (const fault of faults.flatMap((planted) => planted?.[setup.dialect] ?? []))
      expect(plantedText(fault)).not.toBe("");
  });

  describeFaults("planted faults", () => {
    for (const scene of own) {
      for (const fault of scene.faults) {
        if (!dialectsOf(scene, fault).includes(setup.dialect)) continue;
        test(`a planted fault is found: ${fault.what} (${fault.numbers})`, async () => {
          let finding = await findingOf(setup, scene, fault);
          for (let tries = 1; tries < (fault.tries ?? 1) && !fault.found.test(finding); tries += 1)
            finding = await findingOf(setup, scene, fault);
          expect(finding).toMatch(fault.found);
        });
      }
    }
  });
}

/** What a scene says of a fault. */
async function findingOf<Kind extends Stage>(
  setup: StageSetup<Kind>,
  scene: Scene<Kind>,
  fault: SceneFault,
): Promise<string> {
  const change = fault.change?.();
  const planted = fault.planted?.[setup.dialect];
  const stage = await setup.open({
    ...(change === undefined ? {} : { change }),
    ...(planted === undefined ? {} : { planted }),
  });
  try {
    await scene.play(stage);
    return "nothing";
  } catch (error) {
    return stripVTControlCharacters(String(error));
  } finally {
    await stage.close();
  }
}
