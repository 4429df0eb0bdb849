import { InvocationContext } from "@azure/functions";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openGateScene } from "./gate-scene";
import type { GateScene } from "./gate-scene";

let scene: GateScene;
beforeAll(async () => {
  const setting = "AzureFunctionsJobHost__extensions__queues__messageEncoding";
  scene = await openGateScene({ tasks: [] }, { [setting]: "none" });
});
afterAll(() => scene.close());

/** Why the poison queue has the message. */
async function reasonOf(message: string): Promise<string> {
  await scene.gate.ingest.handler(message, new InvocationContext());
  const { receivedMessageItems } = await scene.queue("taskgate-ingest-poison").receiveMessages();
  const text = receivedMessageItems[0]?.messageText ?? "{}";
  return (JSON.parse(text) as { taskgate: { reason: string } }).taskgate.reason;
}

test("an event in base64 is refused with a hint where host.json says messageEncoding none, and another text without it", async () => {
  const event = { eventId: "1", source: "/a", type: "landed" };
  const hint = ". It looks like base64, and host.json says messageEncoding none: send plain text";
  const encoded = Buffer.from(JSON.stringify(event)).toString("base64");
  expect(await reasonOf(encoded)).toMatch(/^Not an event: message: got "eyJ/);
  expect((await reasonOf(encoded)).endsWith(hint)).toBe(true);
  for (const other of ["hello", Buffer.from("plain").toString("base64"), "{ broken"])
    expect(await reasonOf(other)).not.toContain("base64");
});
