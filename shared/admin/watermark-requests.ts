/** What operators ask of watermarks, as requests.ts has it. */
import { listQueryOf, objectOf } from "./object-schema";
import { container, key, maxEntries, operationId, reason, version } from "./schemas";

/** An operator's watermark. A repeat with the same `operationId` sets nothing and answers the same. */
export const readWatermarkRequest = objectOf(
  {
    watermark: key,
    value: container("null: the next maker begins anew; only of a watermark that is there."),
    version: version
      .meta({ description: "Only if this is its version; 0: there is none yet." })
      .exactOptional(),
    operationId,
    reason,
  },
  { names: { version: "expectedVersion" } },
);

/** Which watermarks to list. */
export const readListWatermarksQuery = listQueryOf(
  { definition: key.exactOptional(), watermark: key.exactOptional(), max: maxEntries() },
  { definition: "name" },
);
