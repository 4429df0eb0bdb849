import { asOperationId } from "../core/ids";
import type {
  ListSharedLimitsInput,
  SetLimitInput,
  SetRateInput,
  SetSharedLimitInput,
} from "../ports/task-store";
import type { AdminOptions } from "./admin-options";
import { hintAll } from "./admin-tools";
import type { OfDefinition, Repeatable } from "./admin-tools";
import { withKnownNames } from "./known-definitions";
import { findSharedLimit, unknownSharedLimit } from "./known-shared-limits";
import { withoutConflict } from "./settings-conflict";

/**
 * Calls about limits and rates: one call of the store, then hints for definitions whose tasks may start by it. With settings
 * that the caller expects, and that aren't there, they throw SettingsConflict.
 */
export function limitCalls(options: AdminOptions) {
  const { store, random, wakeUp } = options;
  const newOperationId = (): string => asOperationId(random.uuid());
  return {
    /** Sets or clears the operator's limit; leaves a hint when tasks wait and tokens are free. */
    setLimit: async ({
      definition,
      operationId = newOperationId(),
      ...change
    }: OfDefinition<Repeatable<SetLimitInput>>) => {
      const answer = await withKnownNames(options, definition, () =>
        store.setLimit({ ...change, name: definition, operationId }),
      );
      withoutConflict(answer.status);
      if (answer.ready && isFree(answer)) await wakeUp.hint(definition);
      const { oldLimit, newLimit, held, overLimit } = answer;
      return { definition, oldLimit, newLimit, held, overLimit };
    },
    /** Sets or clears the operator's rate; leaves a hint when tasks wait. */
    setRate: async ({ definition, ...change }: OfDefinition<SetRateInput>) => {
      const { ready, ...answer } = await withKnownNames(options, definition, () =>
        store.setRate({ ...change, name: definition }),
      );
      const status = withoutConflict(answer.status);
      if (ready) await wakeUp.hint(definition);
      return { definition, ...answer, status };
    },
    /**
     * Sets or clears the operator's limit that several definitions share; leaves hints. With `create` it makes a missing one.
     * Throws InvalidArgumentError (unknown), with near names, for a missing one without it.
     */
    setSharedLimit: async ({
      operationId = newOperationId(),
      create = false,
      ...change
    }: Repeatable<SetSharedLimitInput> & { readonly create?: boolean }) => {
      const found = await findSharedLimit(options, change.name);
      if (found === null && !create) throw await unknownSharedLimit(store, change.name);
      const set = await store.setSharedLimit({ ...change, operationId });
      const status = withoutConflict(set.status);
      const { definitions, oldLimit, overLimit, ...answer } = set;
      if (isFree(answer)) await hintAll(wakeUp, definitions);
      const old = oldLimit === undefined ? {} : { oldLimit };
      const drawnBy = (found?.definitions ?? []).map(({ name }) => name);
      return { sharedLimit: change.name, ...old, ...answer, status, overLimit, drawnBy };
    },
    /** Limits that definitions share, with the tokens that each definition holds, by name. */
    sharedLimits: async (request: ListSharedLimitsInput) =>
      (await store.listSharedLimits(request)).sharedLimits,
  };
}

/** Are there tokens without a holder? */
function isFree({ newLimit, held }: { readonly newLimit: number | null; readonly held: number }) {
  return newLimit === null || held < newLimit;
}
