/** Bytes of messages: numbers little-endian, text as UTF-16, unless a name says otherwise. */

/** The message isn't what the protocol says, or asks for something that isn't simulated. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** Reads one message from front to back. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  uint8(): number {
    return this.bytes(1).readUInt8();
  }

  uint16(): number {
    return this.bytes(2).readUInt16LE();
  }

  uint32(): number {
    return this.bytes(4).readUInt32LE();
  }

  uint64(): bigint {
    return this.bytes(8).readBigUInt64LE();
  }

  /** An unsigned number of `size` bytes, at most 6. */
  uint(size: number): number {
    return this.bytes(size).readUIntLE(0, size);
  }

  bytes(size: number): Buffer {
    if (size > this.left) {
      throw new ProtocolError(
        `A message of ${this.#bytes.length} bytes ends ${size - this.left} bytes early`,
      );
    }
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  /** Text of so many UTF-16 units. */
  text(length: number): string {
    return this.bytes(length * 2).toString("utf16le");
  }

  /** Text after a count of one byte. */
  shortText(): string {
    return this.text(this.uint8());
  }
}

/** Collects the written bytes. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(256);
  #length = 0;

  uint8(...values: number[]): this {
    for (const value of values) this.#room(1).writeUInt8(value);
    return this;
  }

  uint16(value: number): this {
    this.#room(2).writeUInt16LE(value);
    return this;
  }

  uint32(value: number): this {
    this.#room(4).writeUInt32LE(value);
    return this;
  }

  int16(value: number): this {
    this.#room(2).writeInt16LE(value);
    return this;
  }

  int32(value: number): this {
    this.#room(4).writeInt32LE(value);
    return this;
  }

  int64(value: bigint): this {
    this.#room(8).writeBigInt64LE(value);
    return this;
  }

  uint64(value: bigint): this {
    this.#room(8).writeBigUInt64LE(value);
    return this;
  }

  float64(value: number): this {
    this.#room(8).writeDoubleLE(value);
    return this;
  }

  /** An unsigned number of `size` bytes, at most 6. */
  uint(value: number, size: number): this {
    this.#room(size).writeUIntLE(value, 0, size);
    return this;
  }

  bytes(bytes: Uint8Array): this {
    this.#room(bytes.length).set(bytes);
    return this;
  }

  /** Text after a count of one byte. */
  shortText(text: string): this {
    return this.uint8(text.length).bytes(Buffer.from(text, "utf16le"));
  }

  /** Text after a count of two bytes. */
  longText(text: string): this {
    return this.uint16(text.length).bytes(Buffer.from(text, "utf16le"));
  }

  /** The bytes written since the last call. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return taken;
  }

  #room(size: number): Buffer {
    const needed = this.#length + size;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#length = needed;
    return this.#bytes.subarray(needed - size, needed);
  }
}
