// What belongs to one definition: failures, schedules, groups and changes.

import { call, inPath, slowly } from "./api.js";
import { makeAuditTable } from "./audit-table.js";
import { element, section } from "./dom.js";
import { askFailures, makeFailures } from "./failure-list.js";
import { makeGroupTable } from "./group-table.js";
import { placeOf } from "./place.js";
import { makeScheduleTable } from "./schedule-table.js";

const everyMs = 5_000;
const groupsMax = 20;
const auditMax = 10;

/** Sections without rows are hidden, but that of failures. */
export function makeLists(name) {
  const failures = makeFailures(name);
  const schedules = makeScheduleTable({ isOfOne: true });
  const groups = makeGroupTable({ isOfOne: true });
  const audit = makeAuditTable();
  const failed = section("Failures", failures.node);
  const scheduled = section("Schedules", schedules.node);
  const grouped = section(
    "Groups, those with waiting tasks first",
    groups.node,
    element("p", {}, element("a", { href: placeOf.groups(name) }, "All its groups")),
  );
  const audited = section(
    "Changes",
    audit.node,
    element("p", {}, element("a", { href: placeOf.audit(name) }, "All its entries")),
  );
  const node = element("div", {}, failed, scheduled, grouped, audited);
  const query = `definition=${inPath(name)}`;
  const lists = slowly(everyMs, () =>
    Promise.all([
      askFailures(name),
      call(`schedules?${query}`),
      call(`groups?${query}&max=${groupsMax}`),
      call(`audit?object=${inPath(name)}&max=${auditMax}`),
    ]),
  );
  const look = async () => {
    const [found, { schedules: planned, more }, held, { entries, more: moreEntries }] =
      await lists();
    failures.fill(found);
    schedules.fill(planned, more);
    scheduled.hidden = planned.length === 0;
    groups.fill(held.groups, held.more);
    grouped.hidden = held.groups.length === 0;
    audit.fill(entries, moreEntries);
  };
  return { node, look };
}
