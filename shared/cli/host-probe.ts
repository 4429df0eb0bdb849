import type { DoctorProbe } from "../admin/doctor";
import { messageOf } from "../core/foreign-value";
import type { AppSettings } from "../local/functions-host/app-settings";
import { adviseOnHost } from "../local/host-advice";
import { readLocalSettings } from "../local/local-app";
import { currentEnvironment } from "../settings/load-settings";

/** What `taskgate doctor` says of the host.json in the current folder. */
export const hostProbe: DoctorProbe = {
  check: "host.json",
  run: async () => adviseOnFolder(process.cwd(), currentEnvironment()),
};

/** The same of any folder. As for the host, a variable of the environment goes before the value of local.settings.json. */
export async function adviseOnFolder(
  folder: string,
  environment: AppSettings,
): ReturnType<DoctorProbe["run"]> {
  const { own, problem } = readOwn(folder);
  const advice = await adviseOnHost(folder, { ...own, ...environment });
  if (advice === null) return "There is none in the current folder.";
  const notes = problem === null ? advice : [...advice, problem];
  if (notes.length === 0) return "Nothing to advise.";
  return { status: "note", text: notes.join(" ") };
}

/** Values that can't be read, such as encrypted ones, are no fault of host.json. */
function readOwn(folder: string): { own: AppSettings; problem: string | null } {
  try {
    return { own: readLocalSettings(folder), problem: null };
  } catch (error) {
    return { own: {}, problem: messageOf(error) };
  }
}
