import { migrateStore } from "../../shared/store/open-store";
import type { VerifyStep } from "./step";

/** The product's own migrator makes the schema; a second run finds nothing to do. */
export const schemaStep: VerifyStep = {
  name: "schema",
  share: 0.05,
  meansNothingSimulated: false,
  run: async ({ place: { url } }) => {
    const first = await migrateStore({ url });
    const again = await migrateStore({ url });
    const isIdle = again.applied.length === 0 && !again.isLogicRenewed;
    return [
      {
        what: "migrations, procedures, views, roles",
        status: first.applied.length > 0 && isIdle ? "passed" : "failed",
        summary: `${first.applied.join(", ")} and the logic; a second run ${isIdle ? "changes nothing" : "changes something"}`,
        details: [],
      },
    ];
  },
};
