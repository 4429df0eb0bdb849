import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskStore } from "../../shared/ports/task-store";
import { splitBatches } from "../../shared/store/mssql/mssql-migrations";
import type { StoreSetup } from "./store-setup";

/** Edits of one SQL file of the stores. */
export interface PlantedFault {
  /** Below shared/store. */
  readonly file: string;
  readonly edits: readonly { readonly from: string; readonly to: string }[];
}

const stores = join(__dirname, "../../shared/store");

/** The file with its fault. Throws where the text isn't there any more. */
export function plantedText({ file, edits }: PlantedFault): string {
  let text = readFileSync(join(stores, file), "utf8");
  for (const { from, to } of edits) {
    if (!text.includes(from)) throw new Error(`${file} no longer says \`${from}\``);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** The stores of `setup` with a fault; on PostgreSQL it stays in the setup's database. */
export function plantedSetup(setup: StoreSetup, fault: PlantedFault): StoreSetup {
  const text = plantedText(fault);
  const batches = setup.dialect === "mssql" ? splitBatches(text) : [text];
  return {
    ...setup,
    open: async () => {
      const opened = await setup.open();
      for (const batch of batches) await opened.raw(batch);
      return opened;
    },
  };
}

/** A value that has lost one of its fields. */
export function without<Value extends object, Key extends keyof Value>(
  value: Value,
  key: Key,
): Omit<Value, Key> {
  const copy = { ...value };
  Reflect.deleteProperty(copy, key);
  return copy;
}

/** A store of which some operations do something else. */
export function changedStore(store: TaskStore, changes: Partial<TaskStore>): TaskStore {
  return new Proxy(store, {
    get: (target, name): unknown => {
      const value: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
