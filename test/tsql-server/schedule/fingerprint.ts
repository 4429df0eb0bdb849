import type { Connection } from "../engine/connection";
import type { World } from "../engine/world";
import type { Index } from "../storage/index";
import { imageText } from "../storage/row";
import type { TableData } from "../storage/table";

/**
 * Everything that decides the future of a world, as one text: rows, uncommitted changes, versions in use, ghosts, locks with
 * their queues, sequences, and of each connection what its request has seen so far. Two worlds with the same text go on alike.
 */
export function fingerprint(world: World): string {
  const parts: string[] = [];
  for (const connection of world.connections) parts.push(connectionPart(connection));
  for (const data of world.tables) parts.push(tablePart(data, world));
  for (const [id, value] of world.sequenceValues) parts.push(`q${id}=${String(value)}`);
  parts.push(
    String(world.nowTicks),
    ...world.locks.describe().map((line) => relativeNumbers(line, world)),
  );
  return parts.join("\n");
}

function connectionPart(connection: Connection): string {
  const { settings, transaction, world } = connection;
  const snapshot = world.snapshotOf(connection);
  return [
    connection.id,
    connection.state,
    connection.observed,
    connection.failure?.message ?? "",
    connection.reply === undefined ? "" : "has",
    connection.transactionCount,
    connection.isDoomed,
    transaction?.undo.length ?? -1,
    snapshot === undefined ? "" : world.commitSequence - snapshot,
    connection.random.state,
    ...Object.values(settings as unknown as Record<string, unknown>).map(String),
  ].join(" ");
}

/** Row ids tell nothing: rows are known by their keys. */
function tablePart(data: TableData, world: World): string {
  const { schema } = data;
  const identity = `${String(data.nextIdentity)}${data.hasGivenIdentity ? "" : " fresh"}`;
  if (data.isUntouched) return `${String(schema.id)} untouched ${identity}`;
  const parts: string[] = [String(schema.id), identity];
  for (const { row, key } of data.clustered.entries) {
    parts.push(row.image === undefined ? `-${key.map(String).join("|")}` : imageText(row.image));
    if (row.writer !== undefined) parts.push(`w${String(row.writer.session)}`);
    const keepsOlder = row.writer !== undefined || world.hasSnapshots;
    if (keepsOlder) {
      for (const { image, sequence } of row.older) {
        const text = image === undefined ? "-" : imageText(image);
        parts.push(`v${String(world.commitSequence - sequence)}:${text}`);
      }
    }
  }
  for (const index of data.indexes) addGhosts(index, parts);
  return parts.join(";");
}

function addGhosts(index: Index, parts: string[]): void {
  for (const { key, isGhost, writer } of index.entries) {
    if (!isGhost && writer === undefined) continue;
    const marks = `${isGhost ? "g" : ""}${writer === undefined ? "" : String(writer.session)}`;
    parts.push(`${index.schema.name}(${key.map(String).join("|")})${marks}`);
  }
}

/** Transactions are counted from the connection's last one, so that retries come back to known states. */
function relativeNumbers(line: string, world: World): string {
  if (!line.includes("XACT ")) return line;
  return line.replace(/XACT (\d+)\.(\d+)/, (_all, session: string, number: string) => {
    const owner = world.connections.find((connection) => connection.id === Number(session));
    return `XACT ${session}.-${String((owner?.transactionNumber ?? 0) - Number(number))}`;
  });
}
