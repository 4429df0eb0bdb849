import type { Admin } from "../admin/create-admin";
import { diagnose, examineDefinitions, noteHalted } from "../admin/doctor";
import type { DoctorReport } from "../admin/doctor";
import { batchesLookedAt, findHalted } from "../admin/halted-batches";
import { invalidInput } from "../admin/read-result";

/** What only the database and the computer of the app can tell. */
const unseen =
  "Not looked at: schema, held rows, promises, hint queue and poison queues. `taskgate doctor --db ADDRESS` looks at them.";

/**
 * Looks for faults as far as the app's answers show them: definitions, executions past their lease and halted batches. Throws
 * InvalidArgumentError for `deep`, which reads the whole database and takes longer than a request may.
 */
export async function examineApp(
  { status, batches, stopState }: Pick<Admin, "status" | "batches" | "stopState">,
  { deep }: { deep: boolean },
): Promise<DoctorReport> {
  if (deep) {
    const expected =
      "it with --db only: it reads the whole database, longer than a request may take";
    throw invalidInput([{ field: "--deep", value: "set", expected }]);
  }
  const { dialect, definitions, expired } = await status();
  return diagnose([
    { check: "app", status: "ok", text: `The app answers, and its ${dialect} database does.` },
    // The app's own build is the one that registers: this command line's says nothing of it.
    ...examineDefinitions({ definitions, expired, build: 0, stop: await stopState() }),
    ...noteHalted(findHalted(await batches({ max: batchesLookedAt }))),
    { check: "database", status: "note", text: unseen },
  ]);
}
