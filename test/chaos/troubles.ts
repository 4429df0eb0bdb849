import { sleep } from "../../shared/platform/real-clock";
import type { NetworkTrouble } from "./network";
import type { TroubleGroup } from "./options";
import { leaseMs, mainName, sharedName, sideName } from "./plan";
import type { Scene } from "./scene";
import { newestBuild } from "./scene";

/** Something that goes wrong. It ends by itself, or at the end of the run. */
interface Trouble {
  readonly group: TroubleGroup;
  /** Of all that may happen, how often this does. */
  readonly weight: number;
  readonly act: (scene: Scene) => void | Promise<void>;
}

const connections = (kind: NetworkTrouble, forMs: readonly [number, number]): Trouble => ({
  group: "network",
  weight: kind === "cut" ? 3 : 2,
  act: ({ network, dice }) => {
    network.trouble(kind, { dice, share: dice.int(10, 70), forMs: dice.int(...forMs) });
  },
});

const troubles: Readonly<Record<string, Trouble>> = {
  "host killed": { group: "hosts", weight: 4, act: killHost },
  "host frozen": { group: "hosts", weight: 7, act: freezeHost },
  "connections cut": connections("cut", [0, 0]),
  "connections stalled": connections("stall", [200, 6_000]),
  "answers held back": connections("deaf", [200, 6_000]),
  "connections half open": connections("halfOpen", [1_000, 8_000]),
  "connections delayed": connections("delay", [1_000, 5_000]),
  "network gone": {
    group: "network",
    weight: 1,
    act: ({ network, dice }) => {
      network.refuse(dice.int(300, 4_000));
    },
  },
  "wall clock jumped": { group: "clock", weight: 2, act: jumpClock },
  "limit changed": { group: "limits", weight: 4, act: changeLimit },
  "host of another build": { group: "deploy", weight: 2, act: deploy },
  "database killed": { group: "database", weight: 1, act: killServer },
  "disk full": { group: "disk", weight: 1, act: fillDisk },
};

/** One trouble more, by chance. Returns what it was. */
export async function makeTrouble(scene: Scene): Promise<string> {
  const { dice, disk, options, happened, server } = scene;
  // A full disk may have ended it after the last check.
  if (!server.isUp) await server.restart();
  const weights = Object.entries(troubles)
    .filter(
      ([, { group }]) => !options.without.includes(group) && (group !== "disk" || disk !== null),
    )
    .map(([name, { weight }]) => [name, weight] as const);
  const name = dice.weighted(Object.fromEntries(weights));
  happened.set(name, (happened.get(name) ?? 0) + 1);
  await troubles[name]?.act(scene);
  return name;
}

/** Another host takes its place, of any build, when the run sees that one is missing. */
function killHost({ hosts, dice }: Scene): void {
  const host = dice.pickAny(hosts.all);
  if (host !== undefined) hosts.kill(host);
}

/** For less than its lease, or for more. */
function freezeHost({ hosts, dice }: Scene): void {
  const host = dice.pickAny(hosts.awake);
  if (host === undefined) return;
  hosts.freeze(host);
  setTimeout(
    () => {
      hosts.thaw(host);
    },
    dice.int(leaseMs / 6, 3 * leaseMs),
  );
}

function jumpClock({ hosts, dice }: Scene): void {
  const host = dice.pickAny(hosts.awake);
  if (host !== undefined)
    hosts.tell(host, { is: "skew", byMs: dice.pick([-3_600_000, 3_600_000]) });
}

/** Not waited for: while the database is away it takes as long. */
function changeLimit({ limits, dice }: Scene): void {
  const name = dice.pick([mainName, mainName, sideName, sharedName]);
  const max = { [mainName]: 8, [sideName]: 4, [sharedName]: 9 }[name] ?? 4;
  void limits.set(name, dice.int(1, max));
}

/** A deployment: one host ends well, and one of another build comes. */
function deploy({ hosts, dice, startHost }: Scene): void {
  const host = dice.pickAny(hosts.awake);
  if (host === undefined) return;
  hosts.tell(host, { is: "stop" });
  startHost(dice.int(1, newestBuild));
}

async function killServer({ server, dice }: Scene): Promise<void> {
  await server.kill();
  await sleep(dice.int(100, 3_000));
  await server.restart();
}

/** Where its log couldn't be written the server has ended, or can't even recover before there is room. */
async function fillDisk({ disk, server, dice }: Scene): Promise<void> {
  await disk?.whileFull(() => sleep(dice.int(500, 5_000)));
  // It may be about to end.
  await sleep(500);
  if (!server.isUp) await server.restart();
}
