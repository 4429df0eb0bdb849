import { randomUUID } from "node:crypto";
import { parseMessage } from "./parse-json";

/**
 * Messages that go back into a queue travel in an envelope: `{ "taskgate": note, "message": .. }`. The message inside is
 * the original one, so that an event keeps its identity however often it travels. A reader of a message unpacks it
 * first; moved back from the poison queue as it is, a message is read again.
 */

/** What an envelope says of its message. */
interface DeliveryNote {
  /** How often it has been put back; absent in a poison queue. */
  readonly tries?: number;
  /** Why it stands in the poison queue. */
  readonly reason?: string;
}

/** A message without its envelope. */
export interface Delivery {
  /** Deliveries before this one that found the store away. */
  readonly tries: number;
  /** Why it stands in the poison queue; null: nothing says so. */
  readonly reason: string | null;
  readonly message: unknown;
}

/** A queue's message holds 64 KiB of base64. */
const messageBytesMax = 48 * 1024;
/** Stands for an infinite number, as no text of a message does. */
const infinite = `infinite ${randomUUID()}`;
/** Longest reason that is written beside a message. */
const reasonLengthMax = 1_000;

/** Takes a message out of its envelope, if it has one. */
export function readDelivery(given: unknown): Delivery {
  const read = parseMessage(given);
  // The reader of the message reports its errors.
  const parsed = read.ok ? read.value : null;
  if (!isEnvelope(parsed)) return { tries: 0, reason: null, message: given };
  const { tries, reason } = parsed.taskgate;
  const isCount = Number.isSafeInteger(tries) && Number(tries) > 0;
  return {
    tries: isCount ? Number(tries) : 0,
    reason: typeof reason === "string" ? reason : null,
    message: parsed.message,
  };
}

/** Does a message fit into a queue's message with its envelope? */
export function fitsWithNote(message: unknown, tries: number): boolean {
  return isShort(pack({ tries }, message));
}

/** The text of a message that is put back: without the count where both don't fit; null where it alone is too long. */
export function writePutBack(message: unknown, tries: number): string | null {
  return firstFitting([pack({ tries }, message), JSON.stringify(message)]);
}

/** The text of a message for the poison queue, with the reason; without it where both don't fit; null where it can't be written at all. */
export function writeRefused(message: unknown, reason: string): string | null {
  try {
    const bare = typeof message === "string" ? message : textOf(message ?? null);
    return firstFitting([pack({ reason: reason.slice(0, reasonLengthMax) }, message), bare]);
  } catch (error) {
    // Nested deeper than JSON.stringify's stack.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function pack(taskgate: DeliveryNote, message: unknown): string {
  return textOf({ taskgate, message: message ?? null });
}

/** Numbers beyond all that a computer has, like 1e400, stay such numbers: as null, a message refused for one would be taken when it is moved back. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (member === Infinity) return infinite;
    return member === -Infinity ? `-${infinite}` : member;
  })
    .replaceAll(`"${infinite}"`, "1e999")
    .replaceAll(`"-${infinite}"`, "-1e999");
}

function firstFitting(texts: readonly string[]): string | null {
  return texts.find(isShort) ?? null;
}

function isShort(text: string): boolean {
  return Buffer.byteLength(text, "utf8") <= messageBytesMax;
}

function isEnvelope(
  value: unknown,
): value is { taskgate: Record<string, unknown>; message: unknown } {
  if (typeof value !== "object" || value === null) return false;
  if (!("taskgate" in value) || !("message" in value) || Object.keys(value).length !== 2)
    return false;
  return typeof value.taskgate === "object" && value.taskgate !== null;
}
