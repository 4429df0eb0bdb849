import { connect } from "node:net";
import type { Socket } from "node:net";
import { ByteWriter } from "./bytes";
import { initialPacketSize, PacketReader, packetTypes, PacketWriter } from "./packets";

/** A client that sends what the driver never does: for what the protocol allows, or forbids, beyond it. */

const unencrypted = Buffer.from([1, 0, 6, 0, 1, 0xff, 2]);
const loginSize = 94;
/** Places of user name and password in LOGIN7. */
const slots = [40, 44] as const;

/** A connection to a server, message by message. */
export class RawClient {
  readonly #socket: Socket;
  readonly #reader = new PacketReader();
  readonly #answers: Buffer[] = [];
  #wake: () => void = () => undefined;
  isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.isClosed = true;
      this.#wake();
    });
    socket.on("data", (chunk: Buffer) => {
      this.#answers.push(...this.#reader.read(chunk).map((message) => message.body));
      this.#wake();
    });
  }

  /** Connects and logs in as u with password p. */
  static async open(port: number): Promise<RawClient> {
    const client = new RawClient(connect(port, "127.0.0.1"));
    client.send(packetTypes.prelogin, unencrypted);
    await client.answer();
    client.send(packetTypes.login, loginOf("u", "p"));
    await client.answer();
    return client;
  }

  /** Sends a message; `status` is added to its last packet's. */
  send(type: number, body: Buffer, status = 0): void {
    const packets: Buffer[] = [];
    const writer = new PacketWriter({
      type,
      sessionId: 0,
      packetSize: initialPacketSize,
      write: (bytes) => packets.push(bytes),
    });
    writer.push(body);
    writer.end();
    const last = packets.at(-1);
    if (last !== undefined) last[1] = (last[1] ?? 0) | status;
    for (const packet of packets) this.#socket.write(packet);
  }

  /** Sends a batch of a client that believes to be in a transaction. */
  batch(sql: string, transactionId = 0n, status = 0): void {
    const body = new ByteWriter()
      .uint32(22)
      .uint32(18)
      .uint16(2)
      .uint64(transactionId)
      .uint32(1)
      .bytes(Buffer.from(sql, "utf16le"));
    this.send(packetTypes.batch, body.take(), status);
  }

  /** The next whole answer; undefined when the server has closed the connection. */
  async answer(): Promise<Buffer | undefined> {
    while (this.#answers.length === 0 && !this.isClosed) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.#answers.shift();
  }

  close(): void {
    this.#socket.destroy();
  }
}

function loginOf(user: string, password: string): Buffer {
  const fixed = Buffer.alloc(loginSize);
  const scrambled = Buffer.from(password, "utf16le").map(
    (byte) => (((byte & 0x0f) << 4) | (byte >> 4)) ^ 0xa5,
  );
  const texts = [Buffer.from(user, "utf16le"), Buffer.from(scrambled)];
  let at = loginSize;
  for (const [index, slot] of slots.entries()) {
    const bytes = texts[index] ?? Buffer.alloc(0);
    fixed.writeUInt16LE(at, slot);
    fixed.writeUInt16LE(bytes.length / 2, slot + 2);
    at += bytes.length;
  }
  fixed.writeUInt32LE(initialPacketSize, 8);
  return Buffer.concat([fixed, ...texts]);
}
