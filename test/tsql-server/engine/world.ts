import { LockManager } from "../locks/manager";
import type { Index, Entry } from "../storage/index";
import type { AccessRecorder } from "../storage/recorder";
import type { Row } from "../storage/row";
import type { TableSchema } from "../storage/schema";
import { TableData } from "../storage/table";
import type { SqlValue } from "../values";
import type { SequenceObject } from "./catalog";
import { Catalog, Plans } from "./catalog";
import { Connection } from "./connection";
import { ticksOfMs, ticksPerMs } from "./instants";
import { Coverage } from "./metrics";
import { holdInteger, isIntegerName } from "./numbers";
import type { EngineOptions } from "./options";
import { engines } from "./options";
import { SqlError } from "./sql-error";
import type { TableScan } from "./table-scan";

/** Noon of an arbitrary day: until a test sets the clock. */
const startMs = Date.UTC(2026, 0, 1, 12);

/** One database with its connections: the whole state of a simulation. */
export class World {
  readonly options: EngineOptions;
  readonly locks: LockManager;
  readonly coverage: Coverage;
  catalog = new Catalog();
  /** READ_COMMITTED_SNAPSHOT: may be changed by ALTER DATABASE. */
  isVersioned: boolean;
  allowsSnapshot = true;
  databaseName = "Simulated";
  /** Grows with each commit that wrote. */
  commitSequence = 0;
  nowTicks = ticksOfMs(startMs);
  /** A loop over table variables takes no lock, and so never stops for others: tests that make such loops bound them. */
  statementsLeft = Number.POSITIVE_INFINITY;
  /** Cycles of waiters that were broken. */
  deadlocks = 0;
  /** Connections that come from now on count what they cost. */
  isMetered = false;
  /** Connections keep a hash of what they see: for searches that compare states. */
  isObserved = false;
  #recorder: AccessRecorder | undefined;
  /** Told of each access to a shared table as it begins, while a test wants to know. */
  onScan: ((scan: TableScan) => void) | undefined;
  /** Lines of what happened with locks, while a test wants them. */
  trace: string[] | undefined;
  readonly #connections = new Map<number, Connection>();
  #nextConnection = 1;
  #tables = new Map<number, TableData>();
  readonly #sequences = new Map<number, bigint>();
  /** Snapshots in use, by connection. */
  readonly #snapshots = new Map<Connection, number>();
  /** The state kept for snapshots only. */
  #garbage: { index: Index; entry: Entry }[] = [];
  readonly #oldRows = new Set<Row>();

  constructor(options: EngineOptions = engines.azure, coverage: Coverage = new Coverage()) {
    this.options = options;
    this.isVersioned = options.isVersioned;
    this.coverage = coverage;
    this.locks = new LockManager((session) => {
      this.#connections.get(session)?.onLockGranted();
    });
  }

  /** Another world with the same objects and rows, none of the connections. Nothing may be uncommitted here. */
  fork(options: EngineOptions = this.options): World {
    const busy = this.connections.find(
      ({ state, transaction }) => state !== "idle" || transaction !== undefined,
    );
    if (busy !== undefined)
      throw new Error(`Connection ${busy.id} isn't done: its world can't be copied`);
    const copy = new World(options, this.coverage);
    copy.catalog = this.catalog.fork();
    const isPlannedAlike =
      options.strictSchemas === this.options.strictSchemas &&
      options.forcedPaths === this.options.forcedPaths;
    if (!isPlannedAlike) copy.catalog.plans = new Plans();
    copy.nowTicks = this.nowTicks;
    copy.commitSequence = this.commitSequence;
    copy.databaseName = this.databaseName;
    copy.allowsSnapshot = this.allowsSnapshot;
    // What ALTER DATABASE has set stays, unless an engine of the other kind is asked for.
    if (options.isVersioned === this.options.isVersioned) copy.isVersioned = this.isVersioned;
    for (const [id, data] of this.#tables) copy.#tables.set(id, data.fork());
    for (const [id, value] of this.#sequences) copy.#sequences.set(id, value);
    return copy;
  }

  /** Told what each step touches, while a search wants to know. */
  get recorder(): AccessRecorder | undefined {
    return this.#recorder;
  }

  set recorder(recorder: AccessRecorder | undefined) {
    this.#recorder = recorder;
    this.locks.onTouch = recorder === undefined ? undefined : recorder.locks.bind(recorder);
  }

  // ---- time

  /** Milliseconds since 1970, as the server's clock shows them. It stands still until it is set. */
  get clock(): number {
    return Number((this.nowTicks - ticksOfMs(0)) / ticksPerMs);
  }

  set clock(ms: number) {
    this.nowTicks = ticksOfMs(ms);
  }

  // ---- connections

  connect(): Connection {
    const connection = new Connection(this, this.#nextConnection);
    this.#nextConnection += 1;
    this.#connections.set(connection.id, connection);
    return connection;
  }

  forget(connection: Connection): void {
    this.#connections.delete(connection.id);
  }

  get connections(): Connection[] {
    return [...this.#connections.values()];
  }

  connection(id: number): Connection {
    const connection = this.#connections.get(id);
    if (connection === undefined) throw new Error(`There is no connection ${id}`);
    return connection;
  }

  // ---- rows

  data(schema: TableSchema): TableData {
    const data = this.#tables.get(schema.id);
    if (data === undefined) throw new Error(`Table ${schema.name} has no rows in this world`);
    return data;
  }

  get tables(): IterableIterator<TableData> {
    return this.#tables.values();
  }

  addTable(schema: TableSchema): () => void {
    this.#tables.set(schema.id, new TableData(schema));
    return () => {
      this.#tables.delete(schema.id);
    };
  }

  /** Another state of a table: to undo changes of it as a whole. */
  replaceTable(earlier: TableData): () => void {
    return () => {
      this.#tables.set(earlier.schema.id, earlier);
    };
  }

  removeTable(schema: TableSchema): () => void {
    const data = this.data(schema);
    this.#tables.delete(schema.id);
    return () => {
      this.#tables.set(schema.id, data);
    };
  }

  // ---- snapshots

  get hasSnapshots(): boolean {
    return this.#snapshots.size > 0;
  }

  snapshotOf(connection: Connection): number | undefined {
    return this.#snapshots.get(connection);
  }

  openSnapshot(connection: Connection): number {
    const known = this.#snapshots.get(connection);
    if (known !== undefined) return known;
    this.#recorder?.takesSnapshot();
    this.#snapshots.set(connection, this.commitSequence);
    return this.commitSequence;
  }

  closeSnapshot(connection: Connection): void {
    if (!this.#snapshots.delete(connection) || this.#snapshots.size > 0) return;
    for (const { index, entry } of this.#garbage) index.remove(entry);
    this.#garbage = [];
    for (const row of this.#oldRows) {
      if (row.writer === undefined) row.older = [];
    }
    this.#oldRows.clear();
  }

  /** A committed delete: its entry goes, unless a snapshot may still need it or a check wants to count it. */
  dropGhost(index: Index, entry: Entry): void {
    if (this.options.keepsGhosts) return;
    if (this.hasSnapshots) this.#garbage.push({ index, entry });
    else index.remove(entry);
  }

  /** A committed row: its older versions go likewise. */
  dropVersions(row: Row): void {
    if (this.hasSnapshots) this.#oldRows.add(row);
    else if (row.older.length > 0) row.older = [];
  }

  /** What the server does in the background, when ghosts are kept. */
  cleanGhosts(): void {
    for (const data of this.#tables.values()) {
      for (const index of data.indexes) {
        const ghosts = index.entries.filter((entry) => entry.isGhost && entry.writer === undefined);
        if (ghosts.length > 0) data.own();
        for (const entry of ghosts) index.remove(entry);
      }
    }
  }

  // ---- sequences and chance

  /** Given out for good: a rollback doesn't take it back [doc: CREATE SEQUENCE]. */
  nextValue(sequence: SequenceObject, connection: Connection): SqlValue {
    this.#recorder?.draws(`sequence ${sequence.id}`);
    const value = this.#sequences.get(sequence.id) ?? sequence.start;
    const { name } = sequence.type;
    if (!isIntegerName(name))
      throw new SqlError(11702, `The sequence object '${sequence.name}' must be of a whole type.`);
    this.#sequences.set(sequence.id, value + sequence.increment);
    connection.observe(`sequence ${String(value)}`);
    return holdInteger(value, name);
  }

  /** Sets the number that comes next; answers how to undo it. */
  restartSequence(sequence: SequenceObject, value: bigint): () => void {
    const before = this.#sequences.get(sequence.id) ?? sequence.start;
    this.#recorder?.draws(`sequence ${sequence.id}`);
    this.#sequences.set(sequence.id, value);
    return () => {
      this.#sequences.set(sequence.id, before);
    };
  }

  get sequenceValues(): ReadonlyMap<number, bigint> {
    return this.#sequences;
  }

  newId(connection: Connection): string {
    return connection.random.guid();
  }
}
