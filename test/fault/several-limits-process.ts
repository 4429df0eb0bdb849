import { openStore } from "../../shared/store/open-store";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { LimitPools } from "../../shared/worker/run/limit-pools";
import { withTokens } from "../../shared/worker/run/with-tokens";
import { OverlapLog } from "./overlap-log";
import { quietEnvironment } from "../support/quiet-environment";

/*
 * One process of the test of several limits: callers whose lists of limits overlap, until SIGTERM. Each body writes when it
 * begins and ends into the overlap log, with the names of its limits in place of the fence.
 * Arguments: database URL, name of this process, mode: whole | first (a planted bug: tokens of the first limit alone), and the
 * database's URL for evidence, which only the owner may gather.
 */
const [, , url = "", name = "", mode = "whole", ownerUrl = ""] = process.argv;
const leaseMs = 3_000;
const wide = { name: "wide", limit: 3, leaseMs };
const middle = { name: "middle", limit: 2, leaseMs };
const narrow = { name: "narrow", limit: 1, leaseMs };
const lists = [[wide, middle], [middle, narrow], [narrow, wide], [wide], [narrow, middle, wide]];

async function main(): Promise<void> {
  const store = openStore({ url, connectionsMax: 4, random: realRandom, sleep });
  const log = new OverlapLog(ownerUrl, name);
  const environment = quietEnvironment(store, { workerName: name });
  const pools = new LimitPools(environment, new Heartbeat(environment));
  let isOver = false;
  process.on("SIGTERM", () => {
    isOver = true;
  });
  const callOn = async (limits: (typeof lists)[number]): Promise<void> => {
    while (!isOver) {
      const limit = mode === "first" ? limits.slice(0, 1) : limits;
      await withTokens(pools, { limit, waitMs: 1_000 }, async ({ signal }) => {
        const entry = await log.begin(limits.map((each) => each.name).join(), Date.now());
        try {
          await sleep(5 + 20 * realRandom.fraction(), signal);
        } finally {
          await log.end(entry);
        }
      });
    }
  };
  await Promise.all([...lists, ...lists].map(callOn));
  await pools.stop();
  await log.close();
  await store.close();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
