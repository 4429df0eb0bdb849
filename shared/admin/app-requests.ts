/** What operators ask of apps, as requests.ts has it. */
import { z } from "zod";
import { describeTextRule } from "./text-rule";
import { objectOf } from "./object-schema";
import { key, keyRule, reason } from "./schemas";

/** The app that a definition is handed over to; null: none. */
export const readOwnerRequest = objectOf({
  app: z
    .union([key, z.null()], {
      error: ({ input }) =>
        input === undefined ? "the name of an app, or null (no app)" : describeTextRule(keyRule),
    })
    .meta({ description: "null: no app, until one registers it." }),
  reason,
});
