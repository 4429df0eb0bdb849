import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { addressOfTrigger, readMessageEncoding } from "../../../shared/settings/queue-address";

const text = "UseDevelopmentStorage=true";

describe("the queue of a trigger", () => {
  test("addressOfTrigger takes the connection string of the setting that the trigger names", () => {
    const trigger = { queueName: "parcels", connection: "Warehouse" };
    const storage = { kind: "connection-string", connectionString: text };
    expect(addressOfTrigger(trigger, { Warehouse: text })).toEqual({ name: "parcels", storage });
    expect(addressOfTrigger(trigger, { AzureWebJobsWarehouse: text })).toEqual({
      name: "parcels",
      storage,
    });
    expect(addressOfTrigger({ queueName: "parcels" }, { AzureWebJobsStorage: text })).toEqual({
      name: "parcels",
      storage,
    });
  });

  test("addressOfTrigger puts app settings in place of %..% in the queue's name", () => {
    const trigger = { queueName: "%STAGE%-parcels-%PART%", connection: "Warehouse" };
    const environment = { Warehouse: text, STAGE: "test", PART: "7" };
    expect(addressOfTrigger(trigger, environment).name).toBe("test-parcels-7");
  });

  test.each([
    [
      "the address of the queue service and a user-assigned identity",
      { Warehouse__queueServiceUri: "https://w.queue.core.windows.net", Warehouse__clientId: "c" },
      {
        queueServiceUri: "https://w.queue.core.windows.net",
        credential: "managedidentity",
        clientId: "c",
      },
    ],
    [
      "the name of the account and the identity of the app",
      { Warehouse__accountName: "w", Warehouse__credential: "managedidentity" },
      {
        queueServiceUri: "https://w.queue.core.windows.net",
        credential: "managedidentity",
        clientId: null,
      },
    ],
    [
      "the name of the account alone",
      { AzureWebJobsWarehouse__accountName: "w" },
      {
        queueServiceUri: "https://w.queue.core.windows.net",
        credential: "default",
        clientId: null,
      },
    ],
  ])("addressOfTrigger reads an identity from %s", (_, environment, storage) => {
    const trigger = { queueName: "parcels", connection: "Warehouse" };
    expect(addressOfTrigger(trigger, environment).storage).toEqual({
      kind: "identity",
      ...storage,
    });
  });

  test.each([
    [{ queueName: "%STAGE%-a", connection: "W" }, { W: text }, "STAGE: expected part of %STAGE%-a"],
    [{ queueName: "a", connection: "W" }, { V: text }, "W: expected a connection string, or W__"],
    [{ connection: "W" }, { W: text }, "queueName: expected the trigger's own queue"],
  ])("addressOfTrigger names the setting that %j lacks", (trigger, environment, message) => {
    expect(() => addressOfTrigger(trigger, environment)).toThrow(message);
  });
});

describe("the encoding of messages", () => {
  const folder = mkdtempSync(join(tmpdir(), "taskgate-host-json-"));
  const other = "AzureFunctionsJobHost__extensions__queues__messageEncoding";
  const write = (lines: string): void => {
    writeFileSync(join(folder, "host.json"), lines);
  };
  beforeAll(() => {
    write("{}");
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test("readMessageEncoding is base64 where neither host.json nor a setting says another", () => {
    expect(readMessageEncoding(join(folder, "absent"), {})).toBe("base64");
    expect(readMessageEncoding(folder, {})).toBe("base64");
    write('{ "extensions": { "queues": {\n  // "messageEncoding": "none"\n } } }');
    expect(readMessageEncoding(folder, {})).toBe("base64");
  });

  test("readMessageEncoding reads host.json with comments, and a setting stands over it", () => {
    write('{ // the old senders\n"extensions": { "queues": { "messageEncoding": "None" } } }');
    expect(readMessageEncoding(folder, {})).toBe("none");
    expect(readMessageEncoding(folder, { [other]: "base64" })).toBe("base64");
    write("{}");
    expect(readMessageEncoding(folder, { [other.toUpperCase()]: "none" })).toBe("none");
  });
});
