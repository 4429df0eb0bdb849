import { describe, expect, test } from "@jest/globals";
import { isSameCloud, queueUriOf } from "../../../shared/settings/queue-address";
import type { StorageSettings } from "../../../shared/settings/settings";

const ofText = (connectionString: string): StorageSettings => ({
  kind: "connection-string",
  connectionString,
});
const ofIdentity = (queueServiceUri: string): StorageSettings => ({
  kind: "identity",
  queueServiceUri,
  credential: "default",
  clientId: null,
});

describe("queueUriOf", () => {
  test.each([
    ["AccountName=orders;AccountKey=c2VjcmV0", "https://orders.queue.core.windows.net"],
    [
      "DefaultEndpointsProtocol=http;AccountName=orders;AccountKey=c2VjcmV0;EndpointSuffix=core.chinacloudapi.cn",
      "http://orders.queue.core.chinacloudapi.cn",
    ],
    [
      "AccountName=devstoreaccount1;AccountKey=c2VjcmV0;QueueEndpoint=http://127.0.0.1:1234/devstoreaccount1;",
      "http://127.0.0.1:1234/devstoreaccount1",
    ],
    [
      "QueueEndpoint=https://orders.queue.core.windows.net/;SharedAccessSignature=sv=2022&sig=c2VjcmV0",
      "https://orders.queue.core.windows.net",
    ],
    ["UseDevelopmentStorage=true", "http://127.0.0.1:10001/devstoreaccount1"],
    ["SharedAccessSignature=sig=c2VjcmV0", null],
    ["QueueEndpoint=x", null],
  ])("queueUriOf reads %s, and gives no secret away", (text, uri) => {
    expect(queueUriOf(ofText(text))).toBe(uri);
  });

  test("queueUriOf gives one text for an account, by key or by identity", () => {
    const uri = "https://orders.queue.core.windows.net";
    expect(queueUriOf(ofIdentity(`${uri}/`))).toBe(uri);
    expect(
      queueUriOf(ofIdentity("https://user:secret@ORDERS.queue.core.windows.net?sig=secret")),
    ).toBe(uri);
  });
});

describe("isSameCloud", () => {
  const own = "https://orders.queue.core.windows.net";
  test.each([
    ["https://billing.queue.core.windows.net", true],
    ["https://billing.queue.core.windows.net/", true],
    ["https://billing.queue.core.chinacloudapi.cn", false],
    ["http://billing.queue.core.windows.net", false],
    ["https://billing.queue.core.windows.net.example.com", false],
    ["https://example.com/billing.queue.core.windows.net", false],
    ["https://a.b.queue.core.windows.net", false],
    ["https://billing.queue.core.windows.net:8443", false],
    ["https://billing.queue.core.windows.net@example.com", false],
    ["http://127.0.0.1:10001/devstoreaccount1", false],
    ["billing", false],
  ])("an identity's token for the account of this app goes to %s: %s", (other, isSame) => {
    expect(isSameCloud(own, other)).toBe(isSame);
  });

  test("an address of no known form lets no token go to another one", () => {
    expect(isSameCloud("https://proxy.example.com", "https://other.example.com")).toBe(false);
  });
});
