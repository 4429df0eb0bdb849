import type { ListGroupsInput, SetGroupInput } from "../ports/task-store";
import { hintAll } from "./admin-tools";
import type { AdminTools, OfDefinition } from "./admin-tools";
import { withKnownNames } from "./known-definitions";
import type { Known } from "./known-definitions";
import { withoutConflict } from "./settings-conflict";

/** Calls about groups. */
export function groupCalls(options: AdminTools & Known) {
  const { store, wakeUp } = options;
  return {
    /** Sets a group's slots, pauses or resumes it, at once; makes it if it is missing. Throws SettingsConflict where it isn't as expected. */
    setGroup: async ({ definition, ...change }: OfDefinition<SetGroupInput>) => {
      const { woken, ...answer } = await withKnownNames(options, definition, () =>
        store.setGroup({ ...change, name: definition }),
      );
      const status = withoutConflict(answer.status);
      await hintAll(wakeUp, woken);
      return { definition, key: change.groupKey, ...answer, status };
    },
    /** Groups with their slots, by definition as registered, then key. */
    groups: (request: ListGroupsInput) =>
      withKnownNames(options, request.name, async () => (await store.listGroups(request)).groups),
  };
}
