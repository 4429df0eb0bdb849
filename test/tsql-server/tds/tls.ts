import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { createSecureContext, TLSSocket } from "node:tls";
import { packetTypes, PacketReader, PacketWriter } from "./packets";

/** Certificate and key in PEM. */
export interface TlsCredentials {
  certificate: string;
  key: string;
}

/** A TLS session inside a connection, from the answer to PRELOGIN on. */
export interface InnerTls {
  /** Content in the clear, both ways. */
  stream: TLSSocket;
  /** Takes what the socket gets. */
  receive: (chunk: Buffer) => void;
}

/** Messages of the handshake may have any size. */
const handshakePacketSize = 32_767;

/**
 * TLS as TDS 7.4 has it: the handshake travels inside PRELOGIN messages, everything after it as plain TLS records. The
 * driver reads exactly one message for each flight of the handshake [run with tedious 19.2.2].
 */
export function startInnerTls(socket: Socket, credentials: TlsCredentials): InnerTls {
  const carrier = new HandshakeCarrier(socket);
  const stream = new TLSSocket(carrier, {
    isServer: true,
    secureContext: createSecureContext({ cert: credentials.certificate, key: credentials.key }),
  });
  return {
    stream,
    receive: (chunk) => {
      carrier.receive(chunk);
    },
  };
}

class HandshakeCarrier extends Duplex {
  readonly #socket: Socket;
  readonly #packets = new PacketReader();
  readonly #writer: PacketWriter;
  #isRaw = false;
  #flight: Buffer[] = [];

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    this.#writer = new PacketWriter({
      type: packetTypes.prelogin,
      sessionId: 0,
      packetSize: handshakePacketSize,
      write: (bytes) => socket.write(bytes),
    });
    socket.on("close", () => this.push(null));
  }

  receive(chunk: Buffer): void {
    // Records begin with 20 to 23, packets of the handshake with 18; the client waits between both.
    if (!this.#isRaw && this.#packets.isIdle && chunk[0] !== packetTypes.prelogin) {
      this.#isRaw = true;
    }
    if (this.#isRaw) this.push(chunk);
    else for (const message of this.#packets.read(chunk)) this.push(message.body);
  }

  override _read(): void {
    // Incoming bytes are pushed as they come.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.#isRaw) this.#socket.write(chunk);
    else this.#collect(chunk);
    done();
  }

  override _final(done: () => void): void {
    this.#socket.end();
    done();
  }

  /** All writes of one turn are one flight, and so one message. */
  #collect(chunk: Buffer): void {
    this.#flight.push(chunk);
    if (this.#flight.length > 1) return;
    setImmediate(() => {
      this.#writer.push(Buffer.concat(this.#flight));
      this.#flight = [];
      this.#writer.end();
    });
  }
}
