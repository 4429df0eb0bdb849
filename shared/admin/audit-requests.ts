/** What operators ask of the audit, as requests.ts has it. */
import { auditActions } from "../core/audit-actions";
import { limits } from "../core/limits";
import { auditListMax } from "./listing";
import { listQueryOf } from "./object-schema";
import { instant, key, maxEntries, oneOf, text } from "./schemas";

/** Which entries of the audit to list. */
export const readListAuditQuery = listQueryOf(
  {
    object: key.exactOptional(),
    action: oneOf(...auditActions).exactOptional(),
    actor: text({ min: 1, max: limits.nameLengthMax }).exactOptional(),
    since: instant.exactOptional(),
    before: instant.exactOptional(),
    max: maxEntries(auditListMax, 20),
  },
  { actor: "changedBy" },
);
