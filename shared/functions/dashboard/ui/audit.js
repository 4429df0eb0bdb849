// The audit, with filters; older entries by a link.

import { call } from "./api.js";
import { makeAuditTable } from "./audit-table.js";
import { element, makeFiller, section } from "./dom.js";
import { makeFilterForm, makeSelect } from "./fields.js";
import { isPast, makePlace } from "./place.js";

const entriesMax = 50;
const names = ["object", "action", "actor", "since", "before"];

const actions = [
  "set_limit",
  "set_rate",
  "set_shared_limit",
  "pause_definition",
  "resume_definition",
  "set_group",
  "set_schedule_paused",
  "set_schedules",
  "register_definition",
  "set_definition_owner",
  "set_stop",
  "set_watermark",
  "cancel_tasks",
  "redrive_tasks",
  "reschedule_tasks",
  "enqueue_tasks",
  "cancel_batch",
  "resume_batch",
];

export const audit = {
  title: () => "Audit",
  make(main) {
    const object = element("input", {
      id: "audit-object",
      type: "search",
      placeholder: "definition, group, task ..",
    });
    const action = makeSelect({ id: "audit-action" }, [
      ["", "all"],
      ...actions.map((name) => [name, name.replaceAll("_", " ")]),
    ]);
    const actor = element("input", { id: "audit-actor", type: "search", placeholder: "http:NAME" });
    const since = makeSelect({ id: "audit-since" }, [
      ["", "ever"],
      ["1", "1 hour"],
      ["24", "24 hours"],
      ["168", "7 days"],
    ]);
    const fields = { object, action, actor, since };
    const go = () => {
      const members = Object.entries(fields).map(([name, field]) => [name, field.value.trim()]);
      window.location.hash = makePlace("audit", Object.fromEntries(members));
    };
    const titled = [
      ["Of", object],
      ["What", action],
      ["Who", actor],
      ["Since", since],
    ];
    const form = makeFilterForm(titled, { more: [element("button", {}, "Show")], go });
    for (const select of [action, since]) select.addEventListener("change", go);
    const fill = makeFiller(fields);
    const table = makeAuditTable();
    const older = element("a", {}, "Older entries");
    const newest = element("a", {}, "Back to the newest");
    main.append(
      section("Newest first", form, table.node, element("p", { class: "buttons" }, newest, older)),
    );
    return async ({ query }) => {
      fill(Object.fromEntries(query));
      const { entries, more } = await call(`audit?${toQuery(query)}`);
      if (isPast(query)) return;
      table.fill(entries, more);
      const members = Object.fromEntries(query);
      older.hidden = !more;
      older.href = makePlace("audit", { ...members, before: entries.at(-1)?.at });
      newest.hidden = !query.has("before");
      newest.href = makePlace("audit", { ...members, before: "" });
    };
  },
};

/** `since` is a number of hours in the address, an instant for the API. */
function toQuery(query) {
  const asked = new window.URLSearchParams({ max: String(entriesMax) });
  for (const name of names) {
    const value = query.get(name);
    if (value === null || value === "") continue;
    const isHours = name === "since" && /^\d+$/.test(value);
    const instant = () => new Date(Date.now() - Number(value) * 3_600_000).toISOString();
    asked.set(name, isHours ? instant() : value);
  }
  return asked;
}
