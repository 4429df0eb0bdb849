import { asOperationId } from "../../core/ids";
import type { SetLimitInput, SetRateInput, SharedLimitReading } from "../../ports/task-store";
import type { Actor, AdminOptions, OfDefinition } from "../admin-options";
import { withKnownNames } from "../known-definitions";
import { setLimit, setRate, setSharedLimit } from "../limit-actions";
import type { LimitReport, RateReport, SharedLimitReport } from "../limit-actions";
import type { ListSharedLimitsRequest, RateRequest } from "../limit-requests";
import type { LimitRequest } from "../requests";

/** The limit that the caller has seen: with another one in force the call throws SettingsConflict. */
type OverLimit = Pick<SetLimitInput, "expectedLimit">;

/** Calls about limits and rates. With settings that the caller expects, and that aren't there, they throw SettingsConflict. */
export interface LimitCalls {
  /** Sets or clears the operator's limit; leaves a hint when tasks wait and tokens are free. */
  setLimit(request: LimitRequest & Actor & OfDefinition & OverLimit): Promise<LimitReport>;
  /** Sets or clears the operator's rate; leaves a hint when tasks wait. */
  setRate(
    request: RateRequest & Actor & OfDefinition & Pick<SetRateInput, "expectedRate">,
  ): Promise<RateReport>;
  /** Sets or clears the operator's limit that several definitions share, makes it if it is missing; leaves hints. */
  setSharedLimit(
    request: LimitRequest & Actor & OverLimit & { name: string },
  ): Promise<SharedLimitReport>;
  /** Limits that definitions share, with the tokens that each definition holds, by name. */
  sharedLimits(request: ListSharedLimitsRequest): Promise<SharedLimitReading[]>;
}

/** The calls about limits and rates. */
export function limitCalls(options: AdminOptions): LimitCalls {
  const { store, random } = options;
  const newOperationId = (): ReturnType<typeof asOperationId> => asOperationId(random.uuid());
  return {
    setLimit: ({ definition, operationId = newOperationId(), ...change }) =>
      withKnownNames(store, definition, () =>
        setLimit(options, { ...change, name: definition, operationId }),
      ),
    setRate: ({ definition, ...change }) =>
      withKnownNames(store, definition, () => setRate(options, { ...change, name: definition })),
    setSharedLimit: ({ operationId = newOperationId(), ...change }) =>
      setSharedLimit(options, { ...change, operationId }),
    sharedLimits: async (request) => (await store.listSharedLimits(request)).sharedLimits,
  };
}
