import type { DoctorProbe } from "../admin/doctor";
import { currentEnvironment } from "../settings/load-settings";
import { adviseOnHost } from "../local/host-advice";

/** What `taskgate doctor` says of the host.json in the current folder. */
export const hostProbe: DoctorProbe = {
  check: "host.json",
  run: async () => {
    const advice = await adviseOnHost(process.cwd(), currentEnvironment());
    if (advice === null) return "There is none in the current folder.";
    if (advice.length === 0) return "Nothing to advise.";
    return { status: "note", text: advice.join(" ") };
  },
};
