import { compareTexts } from "../../core/text";
import type { Implementation } from "./implementation";
import { audit, byOperator } from "./audit";
import { definitionNamed } from "./rows";

/** register_app: an app says which definitions are its own and where its hints go. */
export const registerApp: Implementation<"registerApp"> = ({ state, nowMs }, input) => {
  const { app, address } = input;
  const names = [...new Set(input.definitions)].sort(compareTexts);
  const isNew = names.some((name) => !state.definitionOwners.has(name));
  const known = state.apps.get(app);
  const isSame = known !== undefined && JSON.stringify(known.address) === JSON.stringify(address);
  if (!isSame) state.apps.set(app, { name: app, address, registeredAtMs: nowMs });
  for (const name of names)
    if (!state.definitionOwners.has(name)) state.definitionOwners.set(name, app);
  const refused = names.flatMap((name) => {
    const owner = state.definitionOwners.get(name);
    return owner === undefined || owner === app ? [] : [{ name, app: owner }];
  });
  return { status: isNew || !isSame ? "registered" : "exists", refused };
};

/** list_apps: the apps with their definitions, also those that were given one and haven't registered yet. */
export const listApps: Implementation<"listApps"> = ({ state }) => {
  const names = new Set([...state.apps.keys(), ...state.definitionOwners.values()]);
  const apps = [...names].sort(compareTexts).map((app) => ({
    app,
    address: state.apps.get(app)?.address ?? null,
    definitions: [...state.definitionOwners]
      .filter(([, owner]) => owner === app)
      .map(([name]) => name)
      .sort(compareTexts),
  }));
  return { apps };
};

/** set_definition_owner: an operator hands a definition over to another app, or releases it. */
export const setDefinitionOwner: Implementation<"setDefinitionOwner"> = (memory, input) => {
  const definition = definitionNamed(memory.state, input.name);
  const { definitionOwners } = memory.state;
  const oldApp = definitionOwners.get(input.name) ?? null;
  const newApp = input.app;
  if (input.expectedApp !== undefined && input.expectedApp !== oldApp)
    return { status: "conflict", oldApp, newApp: oldApp };
  if (oldApp === newApp) return { status: "exists", oldApp, newApp };
  if (newApp === null) definitionOwners.delete(input.name);
  else definitionOwners.set(input.name, newApp);
  audit(memory, definition, {
    setting: "owner",
    oldValue: oldApp,
    newValue: newApp,
    ...byOperator(input),
  });
  return { status: "set", oldApp, newApp };
};
