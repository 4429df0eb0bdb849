/** The text of queue messages, and what the host tells a function about one. */
import type { DequeuedMessageItem } from "@azure/storage-queue";
import type { RpcTypedData } from "./core-api";
import { jsonMembers } from "../../core/json-members";
import { readBase64Text } from "../../platform/base64-text";
import type { MessageEncoding } from "../../platform/storage-hint-queue";

/** Encodes a message's text as the queue holds it. */
export function encodeMessage(content: string | Uint8Array, encoding: MessageEncoding): string {
  const bytes = Buffer.from(content);
  return bytes.toString(encoding === "base64" ? "base64" : "utf8");
}

/** Decodes a message's text; null if it is not base64 although it should be. */
export function decodeMessage(text: string, encoding: MessageEncoding): string | null {
  return encoding === "none" ? text : readBase64Text(text);
}

/** The messages that an output binding's value stands for: each member of a list is one. */
export function messagesOf(data: RpcTypedData): (string | Uint8Array)[] {
  if (data.bytes !== undefined && data.bytes !== null) return [data.bytes];
  if (typeof data.string === "string") return [data.string];
  if (typeof data.json === "string") {
    const value: unknown = JSON.parse(data.json);
    if (!Array.isArray(value)) return [data.json];
    return value.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
  }
  const number = data.int ?? data.double;
  return number === undefined || number === null ? [] : [String(number)];
}

/**
 * What `context.triggerMetadata` is made of. The host lays the top-level members of a JSON payload
 * over the message's own, ignoring case: a payload's `id` hides the message's id. So does this.
 */
export function queueTriggerMetadata(
  message: DequeuedMessageItem,
  content: string,
): Record<string, RpcTypedData> {
  const metadata: Record<string, RpcTypedData> = {
    QueueTrigger: { string: content },
    Id: { string: message.messageId },
    PopReceipt: { string: message.popReceipt },
    DequeueCount: { json: String(message.dequeueCount) },
    InsertionTime: instantOf(message.insertedOn),
    ExpirationTime: instantOf(message.expiresOn),
    NextVisibleTime: instantOf(message.nextVisibleOn),
  };
  const members = content.trimStart().startsWith("{") ? jsonMembers(content) : {};
  for (const [name, value] of Object.entries(members)) {
    const data = memberData(value);
    if (data === null) continue;
    const hidden = Object.keys(metadata).find((key) => key.toLowerCase() === name.toLowerCase());
    metadata[hidden ?? name] = data;
  }
  return metadata;
}

/** As the host tells a payload's member: all but objects as .NET's text of it, from which the library reads numbers. Null: not told. */
function memberData(value: unknown): RpcTypedData | null {
  if (value === null || Array.isArray(value)) return null;
  if (typeof value === "string") return { string: dateText(value) ?? value };
  if (typeof value === "boolean") return { string: value ? "True" : "False" };
  return { json: JSON.stringify(value) };
}

/** The host reads a text in the form of an instant as one, and writes `01/31/2026 08:30:00` in UTC. Null: another text. */
function dateText(text: string): string | null {
  const parts = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,7})?(Z|[+-]\d\d:\d\d)?$/.exec(text);
  if (parts === null) return null;
  const date = new Date(parts[1] === undefined ? `${text}Z` : text);
  if (Number.isNaN(date.getTime())) return null;
  const [year = "", month = "", day = "", time = ""] = date.toISOString().split(/[-T.]/);
  return `${month}/${day}/${year} ${time}`;
}

/** As the host writes it, in whole seconds: `"2026-12-01T02:30:34+00:00"`. */
function instantOf(date: Date): RpcTypedData {
  return { json: JSON.stringify(date.toISOString().replace(/\.\d+Z$/, "+00:00")) };
}
