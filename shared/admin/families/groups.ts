import type { GroupStatus, SetGroupInput } from "../../ports/task-store";
import type { Actor, AdminOptions, OfDefinition } from "../admin-options";
import { withKnownNames } from "../known-definitions";
import { setGroup } from "../task-actions";
import type { GroupReport } from "../task-actions";
import type { GroupRequest, ListGroupsRequest } from "../task-requests";

/** Calls about groups. */
export interface GroupCalls {
  /** Sets a group's slots, pauses or resumes it; makes it if it is missing. */
  setGroup(
    request: GroupRequest & Actor & OfDefinition & Pick<SetGroupInput, "expected">,
  ): Promise<GroupReport>;
  /** Groups with their slots, by definition as registered, then key. */
  groups(request: ListGroupsRequest): Promise<GroupStatus[]>;
}

/** The calls about groups. */
export function groupCalls(options: AdminOptions): GroupCalls {
  const { store } = options;
  return {
    setGroup: ({ definition, ...change }) =>
      withKnownNames(store, definition, () => setGroup(options, { ...change, name: definition })),
    groups: (request) =>
      withKnownNames(
        store,
        request.name ?? "",
        async () => (await store.listGroups(request)).groups,
      ),
  };
}
