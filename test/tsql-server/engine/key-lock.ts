import type { LockMode } from "../locks/modes";
import type { Entry } from "../storage/index";
import type { Writer } from "../storage/row";
import type { Connection } from "./connection";
import type { Ask, OnConflict, Reply, Steps } from "./steps";
import { transactionResource } from "./transaction";

/** A key to be locked, with its entry at the moment of trying. */
export interface KeyTarget {
  readonly resource: string;
  readonly mode: LockMode;
  readonly entry: Entry | undefined;
  /** Whose uncommitted write stands there. */
  readonly writer: Writer | undefined;
}

export interface KeyReply {
  readonly outcome: Reply["outcome"];
  readonly target: KeyTarget | undefined;
  readonly reply: Reply;
}

/**
 * Locks a key. L19: with optimized locking the key's own lock may be gone though its row isn't committed; who finds such
 * a row waits for the transaction that wrote it, and then reads again [doc: Optimized locking].
 */
export function* lockKey(
  connection: Connection,
  find: () => KeyTarget | undefined,
  how: { readonly onConflict: OnConflict; readonly abandon?: () => void },
): Steps<KeyReply> {
  const { onConflict } = how;
  for (;;) {
    let target: KeyTarget | undefined;
    const resolve = (): Ask | undefined => {
      target = find();
      return target;
    };
    const reply = yield* connection.lock({ kind: "lock", resolve, ...how });
    if (reply.outcome !== "granted") return { outcome: reply.outcome, target, reply };
    const writer = connection.world.options.hasOptimizedLocking
      ? liveWriter(target, connection)
      : undefined;
    if (writer === undefined) return { outcome: "granted", target, reply };
    connection.restore(reply);
    // L21: to READPAST such a row is a locked row, or it waits: a switch.
    const skips = onConflict === "skip" && connection.world.options.skipsLiveTransactions;
    if (skips) return { outcome: "skipped", target, reply };
    const ask: Ask = {
      resource: transactionResource(writer),
      mode: "S",
      about: target?.resource ?? "",
    };
    const waited = yield* connection.lock({
      kind: "lock",
      resolve: () => ask,
      onConflict: onConflict === "skip" ? "wait" : onConflict,
    });
    connection.restore(waited);
  }
}

function liveWriter(target: KeyTarget | undefined, connection: Connection): Writer | undefined {
  // The mark of the last writer is in the index's own entry: a change of other columns doesn't touch it.
  const writer = target?.entry === undefined ? target?.writer : target.entry.writer;
  return writer === undefined || writer.session === connection.id ? undefined : writer;
}
