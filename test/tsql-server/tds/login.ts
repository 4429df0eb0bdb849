import { ByteWriter, ProtocolError } from "./bytes";

/** What a client says before its first request [doc: MS-TDS 2.2.6.4 LOGIN7, 2.2.6.5 PRELOGIN]. */

/** The encryption wish in PRELOGIN: 0 for the login only, 1 for all, 2 the client can't. */
export const encryptions = { loginOnly: 0, on: 1, unsupported: 2, required: 3 } as const;

const options = { version: 0, encryption: 1, instance: 2, thread: 3, mars: 4, end: 0xff } as const;
/** 16.0.4096, as SQL Server 2022 writes it. */
const serverVersion = [16, 0, 0x10, 0];

/** Who logs in, and how. */
export interface Login {
  user: string;
  password: string;
  application: string;
  library: string;
  language: string;
  database: string;
  /** Asked for; the server may settle on less. */
  packetSize: number;
  /** The client understands UTF-8 collations, and wants to hear that the server does. */
  asksForUtf8: boolean;
}

/** The encryption that a PRELOGIN asks for. Its offsets are big-endian, in contrast to everything else inside messages. */
export function readPreloginEncryption(body: Buffer): number {
  for (let at = 0; at + 5 <= body.length && body[at] !== options.end; at += 5) {
    if (body[at] === options.encryption) return body.readUInt8(body.readUInt16BE(at + 1));
  }
  throw new ProtocolError("A PRELOGIN without the option for encryption");
}

/** The answer to a PRELOGIN. */
export function preloginAnswer(encryption: number): Buffer {
  const values: [number, number[]][] = [
    [options.version, [...serverVersion, 0, 0]],
    [options.encryption, [encryption]],
    [options.instance, [0]],
    [options.thread, []],
    [options.mars, [0]],
  ];
  const writer = new ByteWriter();
  let at = values.length * 5 + 1;
  for (const [option, value] of values) {
    writer.uint8(option, at >> 8, at & 0xff, 0, value.length);
    at += value.length;
  }
  writer.uint8(options.end);
  for (const [, value] of values) writer.uint8(...value);
  return writer.take();
}

/** Where LOGIN7 keeps offset and length of its texts. */
const slots = {
  user: 40,
  password: 44,
  application: 48,
  extension: 56,
  library: 60,
  language: 64,
  database: 68,
} as const;
const fixedSize = 94;
const features = { utf8: 0x0a, end: 0xff } as const;

/** Reads LOGIN7. Throws ProtocolError for another way to sign in than with a password. */
export function readLogin(body: Buffer): Login {
  if (body.length < fixedSize) throw new ProtocolError(`A LOGIN7 of ${body.length} bytes`);
  const hasWindowsSignIn = (body.readUInt8(25) & 0x80) !== 0;
  const asked = (body.readUInt8(27) & 0x10) === 0 ? [] : readFeatures(body);
  const unknown = asked.filter((feature) => feature !== features.utf8);
  if (hasWindowsSignIn || unknown.length > 0) {
    throw new ProtocolError(
      `A login with ${hasWindowsSignIn ? "Windows" : `features ${unknown.join(", ")}`} isn't simulated`,
    );
  }
  return {
    user: readText(body, slots.user),
    password: readPassword(body),
    application: readText(body, slots.application),
    library: readText(body, slots.library),
    language: readText(body, slots.language),
    database: readText(body, slots.database),
    packetSize: body.readUInt32LE(8),
    asksForUtf8: asked.includes(features.utf8),
  };
}

function readText(body: Buffer, slot: number): string {
  return textBytes(body, slot).toString("utf16le");
}

function textBytes(body: Buffer, slot: number): Buffer {
  const offset = body.readUInt16LE(slot);
  return body.subarray(offset, offset + body.readUInt16LE(slot + 2) * 2);
}

/** Halves of each byte swapped, then XOR 0xA5: no secret, so a listener can read it in the clear. */
function readPassword(body: Buffer): string {
  const plain = textBytes(body, slots.password).map((byte) => {
    const bits = byte ^ 0xa5;
    return ((bits & 0x0f) << 4) | (bits >> 4);
  });
  return Buffer.from(plain).toString("utf16le");
}

/** Ids of the features in the list at the end of the message. */
function readFeatures(body: Buffer): number[] {
  const found: number[] = [];
  let at = body.readUInt32LE(body.readUInt16LE(slots.extension));
  while (at < body.length && body[at] !== features.end) {
    found.push(body.readUInt8(at));
    at += 5 + body.readUInt32LE(at + 1);
  }
  return found;
}
