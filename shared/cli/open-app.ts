import { nodeTimers } from "../platform/node-timers";
import { sleep } from "../platform/real-clock";
import { AppConnection } from "../remote/app-connection";
import { createRemoteAdmin } from "../remote/create-remote-admin";
import { PatientCalls } from "../store/patient-store";
import type { AppTarget } from "./app-target";
import { sayAfterMs } from "./open-services";
import type { Services, Waiting } from "./open-services";

/** The admin of an app elsewhere. Nothing is sent before the first call; there is nothing to close, as a request that was given up is ended. */
export function openApp({ base, signIn }: AppTarget, waiting: Waiting): Services {
  const calls = new PatientCalls({
    ...waiting,
    sayAfterMs,
    timers: nodeTimers,
    subject: `The app at ${base}`,
  });
  const app = new AppConnection({
    base,
    signIn,
    bound: (call, kind) => calls.run(call, kind),
    sleep,
  });
  return {
    admin: createRemoteAdmin(app),
    close: () => {
      calls.hush();
      return Promise.resolve();
    },
    hasGivenUp: () => false,
  };
}
