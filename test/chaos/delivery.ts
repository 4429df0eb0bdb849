import type { Scene } from "./scene";

/** Hints that are due go to hosts. One that is frozen gets some, too: the queue can't know. */
export function deliver({ queue, hosts, dice }: Scene): void {
  for (const definition of queue.take()) {
    const host = dice.pickAny(hosts.all.filter(({ isReady }) => isReady));
    if (host === undefined) queue.push(definition, 500);
    else hosts.tell(host, { is: "hint", definition });
  }
}

/** The timer's tick, which one host gets. */
export function sweepOnce({ hosts, dice }: Scene): void {
  const host = dice.pickAny(hosts.awake);
  if (host !== undefined) hosts.tell(host, { is: "sweep" });
}
