import type { ModelCase } from "../model-case";
import { appCases } from "./apps";
import { cancelCases } from "./cancels";
import { claimCases, longClaimCases } from "./claims";
import { definitionCases } from "./definitions";
import { doneRowCases } from "./done-rows";
import { enqueueCases, longEnqueueCases } from "./enqueues";
import { groupSettingCases } from "./group-settings";
import { groupCases, longGroupCases } from "./groups";
import { limitCases } from "./limits";
import { batchRaceCases } from "./batch-races";
import { lateAddCases } from "./late-adds";
import { leaseCases, longLeaseCases } from "./leases";
import { operationIdCases } from "./operation-ids";
import { longPromotionCases, promotionCases } from "./promotions";
import { purgeGroupCases } from "./purge-groups";
import { purgedBatchCases } from "./purged-batches";
import { purgeCases } from "./purges";
import { stopCases } from "./stops";
import { statisticCases } from "./statistics";
import { readerCases } from "./readers";
import { redriveCases } from "./redrives";
import { replaceCases } from "./replaces";
import { rescheduleCases } from "./reschedules";
import { scheduleCases } from "./schedules";
import { sharedSpreadCases } from "./shared-spread";
import { spreadCases } from "./spread";
import { longTokenCases, tokenCases } from "./tokens";
import { watermarkCases } from "./watermarks";
import { waveCases } from "./waves";

/** Every case: first those of two callers, each run to the end in the tests. */
export const allCases: readonly ModelCase[] = [
  ...tokenCases,
  ...spreadCases,
  ...sharedSpreadCases,
  ...definitionCases,
  ...stopCases,
  ...appCases,
  ...claimCases,
  ...groupCases,
  ...enqueueCases,
  ...promotionCases,
  ...leaseCases,
  ...waveCases,
  ...lateAddCases,
  ...batchRaceCases,
  ...limitCases,
  ...readerCases,
  ...cancelCases,
  ...redriveCases,
  ...groupSettingCases,
  ...rescheduleCases,
  ...purgeCases,
  ...doneRowCases,
  ...statisticCases,
  ...purgeGroupCases,
  ...purgedBatchCases,
  ...replaceCases,
  ...scheduleCases,
  ...watermarkCases,
  ...operationIdCases,
  ...longTokenCases,
  ...longClaimCases,
  ...longGroupCases,
  ...longEnqueueCases,
  ...longPromotionCases,
  ...longLeaseCases,
];
