import { describe } from "@jest/globals";
import type { TaskStore } from "../../../shared/ports/task-store";
import { changedStore } from "../../support/planted-setup";
import type { StoreSetup, TestStore } from "../../support/store-setup";

/** Something that is wrong with a store, and which tests of the contract must fail then. */
export interface ContractFault {
  /** The numbers of the behaviours that it breaks. */
  readonly numbers: string;
  readonly what: string;
  readonly suite: (setup: StoreSetup) => void;
  /** Titles; all of them must fail. */
  readonly tests: RegExp;
  /** What they say. */
  readonly found: RegExp;
  /** What the store does instead; made anew for each test. */
  readonly change?: (store: TaskStore) => Partial<TaskStore>;
  /** What its test store tells instead. */
  readonly tells?: (opened: TestStore) => Partial<TestStore>;
}

declare global {
  /** Read by test/support/planted-environment.cjs, and by the collector of titles. */
  var plantedFaults: Map<string, Pick<ContractFault, "tests" | "found">> | undefined;
}

/** The contract's own tests over a store with a fault; the environment expects each of them to fail. */
export function describeFaults(setup: StoreSetup, faults: readonly ContractFault[]): void {
  const known = (globalThis.plantedFaults ??= new Map());
  for (const fault of faults) {
    const title = `planted, ${fault.numbers}: ${fault.what}`;
    known.set(title, fault);
    describe(title, () => {
      fault.suite({ ...setup, open: async () => faulty(await setup.open(), fault) });
    });
  }
}

/** The damage that a fault leaves is no finding of its own. */
function faulty(opened: TestStore, fault: ContractFault): TestStore {
  const change = (store: TaskStore): TaskStore =>
    fault.change === undefined ? store : changedStore(store, fault.change(store));
  const changes: Partial<TestStore> = {
    store: change(opened.store),
    plain: change(opened.plain),
    isDamaged: true,
    ...fault.tells?.(opened),
  };
  return new Proxy(opened, {
    get: (target, name): unknown => {
      if (name in changes) return Reflect.get(changes, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
