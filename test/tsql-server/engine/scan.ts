import { imageText, readVersion } from "../storage/row";
import type { Image, Row } from "../storage/row";
import type { Access } from "./access";
import { accessOf } from "./access";
import type { Frame } from "./frame";
import type { KeyRange } from "./key-range";
import { LockingScan } from "./locking-scan";
import { rulesOf } from "./table-rules";
import type { Emit } from "./source";
import { emitted, passes } from "./source";
import type { Steps } from "./steps";
import type { TableScan } from "./table-scan";

/** Reads a table's rows, in the way its access says. */
export function* scanRows(scan: TableScan, frame: Frame, emit: Emit): Steps<boolean> {
  const { connection } = frame;
  const access = scan.schema.isLocal ? localAccess : accessOf(scan, connection);
  if (!scan.schema.isLocal) connection.world.onScan?.(scan);
  // Locked rows may be written: rows must be this world's own before they are held.
  if (access.kind === "locking") scan.data(frame).own();
  // A dirty read sees the current state: others may come before.
  if (access.kind === "dirty" && !scan.schema.isLocal)
    yield { kind: "pause", reason: "dirty read" };
  const meter = scan.schema.isLocal ? undefined : connection.meter;
  for (const range of scan.ranges(frame)) {
    meter?.seek();
    if (access.kind === "versioned") range.sight = "committed";
    // Through another index the row is seen before it is locked.
    else if (access.kind === "locking" && range.index === scan.data(frame).clustered) {
      range.sight = "entries";
    }
    const isStopped =
      access.kind === "locking"
        ? yield* new LockingScan(scan, frame, { access, range }).run(emit)
        : yield* walk(scan, frame, { range, emit, read: readerOf(access, frame) });
    if (isStopped) return true;
  }
  return false;
}

const localAccess = { kind: "dirty" } as const;

function readerOf(access: Access, frame: Frame): (row: Row) => Image | undefined {
  if (access.kind !== "versioned") return (row) => row.image;
  const snapshot = snapshotOf(frame);
  const { transaction } = frame.connection;
  return (row) => readVersion(row, snapshot, transaction);
}

/** The statement's, opened at its start; at level SNAPSHOT the transaction's. */
function snapshotOf(frame: Frame): number {
  const { connection } = frame;
  if (connection.settings.isolation === "SNAPSHOT" && connection.transaction !== undefined) {
    connection.transaction.snapshot ??= connection.world.openSnapshot(connection);
    return connection.transaction.snapshot;
  }
  return connection.world.openSnapshot(connection);
}

/** Without locks: no other gets a turn in between, unless the next step takes one. */
function* walk(
  scan: TableScan,
  frame: Frame,
  way: {
    range: KeyRange;
    emit: Emit;
    read: (row: Row) => Image | undefined;
  },
): Steps<boolean> {
  const { range, emit, read } = way;
  const { index } = range;
  const { metrics, world } = frame.connection;
  const meter = scan.schema.isLocal ? undefined : frame.connection.meter;
  const { filters } = scan.plan;
  for (let entry = range.peek(); entry !== undefined; entry = range.peek()) {
    range.pass(entry);
    const { row } = entry;
    const image = read(row);
    if (entry.isGhost) metrics.ghostsPassed += 1;
    if (image === undefined) continue;
    meter?.examined();
    const isPlain = !entry.isGhost && image === row.image && row.writer === undefined;
    if (!isPlain && !isEntryOf(scan, { key: entry.key, index, image }, frame)) continue;
    frame.rows[scan.slot] = image;
    if (!passes(filters, frame)) continue;
    frame.hits[scan.slot] = row;
    if (!scan.schema.isLocal) {
      metrics.rowsRead += 1;
      if (!scan.plan.path.isCovering) meter?.seek();
      if (world.isObserved) frame.connection.observe(`v${imageText(image)}`);
    }
    if (yield* emitted(emit())) return true;
  }
  return false;
}

/** A row may have several entries while its versions are kept: is this the one of that version? */
function isEntryOf(
  scan: TableScan,
  at: { key: readonly Image[number][]; index: KeyRange["index"]; image: Image },
  frame: Frame,
): boolean {
  const { index, image } = at;
  if (index.compareKeys(at.key, index.keyOf(image), index.schema.keyColumns.length) !== 0)
    return false;
  if (scan.schema.isLocal) return true;
  const { connection } = frame;
  return rulesOf(scan.schema, connection.world.catalog).belongs(index.schema, image, connection);
}
