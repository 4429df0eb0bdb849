import { ProtocolError } from "./bytes";

/** Messages are cut into packets with a head of 8 bytes [doc: MS-TDS 2.2.3 Packet Data Stream]. */

/** What a packet belongs to. */
export const packetTypes = {
  batch: 1,
  call: 3,
  answer: 4,
  attention: 6,
  transaction: 14,
  login: 16,
  prelogin: 18,
} as const;

/** Before the login has settled on a size. */
export const initialPacketSize = 4_096;

const headSize = 8;
const statusBits = { last: 1, ignore: 2, reset: 8, resetKeepingTransaction: 16 };

/** One whole message of the client. */
export interface Message {
  type: number;
  /** What the connection must forget before the message is read. */
  reset: "nothing" | "everything" | "all but the transaction";
  /** The client has given it up: it is answered, but not run. */
  isIgnored: boolean;
  body: Buffer;
}

/** Puts incoming packets together to messages. */
export class PacketReader {
  #rest: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #status = 0;
  /** The largest packet, which the login may change: a server ends a connection with larger ones [doc: MS-TDS 2.2.3.1.3]. */
  sizeMax = initialPacketSize;

  /** The messages that `chunk` completes. Throws ProtocolError for what can't be a packet. */
  read(chunk: Buffer): Message[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: Message[] = [];
    while (this.#rest.length >= headSize) {
      // Lengths are big-endian here, in contrast to the content of messages.
      const size = this.#rest.readUInt16BE(2);
      if (size < headSize) throw new ProtocolError(`A packet says it has ${size} bytes`);
      if (size > this.sizeMax)
        throw new ProtocolError(`A packet has ${size} bytes, ${this.sizeMax} are agreed on`);
      if (this.#rest.length < size) break;
      const packet = this.#rest.subarray(0, size);
      this.#rest = this.#rest.subarray(size);
      const message = this.#add(packet);
      if (message !== null) messages.push(message);
    }
    return messages;
  }

  /** Has nothing of an unfinished packet. */
  get isIdle(): boolean {
    return this.#rest.length === 0;
  }

  #add(packet: Buffer): Message | null {
    const status = packet.readUInt8(1);
    this.#parts.push(packet.subarray(headSize));
    // The reset stands in the first packet only, the end and the ignore flag in the last one.
    this.#status |= status;
    if ((status & statusBits.last) === 0) return null;
    const message: Message = {
      type: packet.readUInt8(0),
      reset: readReset(this.#status),
      isIgnored: (this.#status & statusBits.ignore) !== 0,
      body: Buffer.concat(this.#parts),
    };
    this.#parts = [];
    this.#status = 0;
    return message;
  }
}

function readReset(status: number): Message["reset"] {
  if ((status & statusBits.resetKeepingTransaction) !== 0) return "all but the transaction";
  return (status & statusBits.reset) === 0 ? "nothing" : "everything";
}

interface PacketWriterOptions {
  type: number;
  sessionId: number;
  packetSize: number;
  write: (bytes: Buffer) => void;
}

/** Cuts messages into packets. A packet goes out when the next byte wouldn't fit, as a server's do. */
export class PacketWriter {
  readonly #options: PacketWriterOptions;
  #held: Buffer[] = [];
  #heldSize = 0;
  #packetId = 1;

  constructor(options: PacketWriterOptions) {
    this.#options = options;
  }

  push(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldSize += bytes.length;
    const room = this.#options.packetSize - headSize;
    if (this.#heldSize <= room) return;
    const all = Buffer.concat(this.#held);
    let at = 0;
    for (; all.length - at > room; at += room) this.#send(all.subarray(at, at + room), false);
    this.#held = [all.subarray(at)];
    this.#heldSize = all.length - at;
  }

  /** Ends the message. */
  end(): void {
    this.#sendHeld(true);
    this.#packetId = 1;
  }

  /** Sends the held packet; the message goes on. */
  flush(): void {
    if (this.#heldSize > 0) this.#sendHeld(false);
  }

  #sendHeld(isLast: boolean): void {
    const body = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldSize = 0;
    this.#send(body, isLast);
  }

  #send(body: Buffer, isLast: boolean): void {
    const { type, sessionId, write } = this.#options;
    const head = Buffer.alloc(headSize);
    head.writeUInt8(type, 0);
    head.writeUInt8(isLast ? statusBits.last : 0, 1);
    head.writeUInt16BE(headSize + body.length, 2);
    head.writeUInt16BE(sessionId & 0xffff, 4);
    head.writeUInt8(this.#packetId & 0xff, 6);
    this.#packetId += 1;
    write(Buffer.concat([head, body]));
  }
}
