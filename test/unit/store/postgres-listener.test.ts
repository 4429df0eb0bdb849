import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { expect, test } from "@jest/globals";
import { PostgresListener } from "../../../shared/store/postgres/postgres-listener";
import { until } from "../../support/gate";

test("a listener tries again when the file of its authority is gone at that moment, as while it is replaced", async () => {
  const folder = mkdtempSync(join(tmpdir(), "taskgate-listener-"));
  const file = join(folder, "ca.pem");
  const [certificate = ""] = rootCertificates;
  writeFileSync(file, certificate);
  const retries: (() => void)[] = [];
  const troubles: string[] = [];
  const listener = new PostgresListener({
    // Nobody listens there.
    url: `postgres://u:p@127.0.0.1:1/none?sslmode=verify-full&sslrootcert=${file}`,
    schema: "taskgate",
    connectTimeoutMs: 1_000,
    timers: {
      after: (_, callback) => {
        retries.push(callback);
        return () => undefined;
      },
      soon: (callback) => {
        callback();
      },
    },
    events: {
      onNews: () => undefined,
      onListening: () => undefined,
      onTrouble: (reason) => troubles.push(reason),
    },
  });
  const retry = async (count: number): Promise<void> => {
    await until("the next try is planned", async () => retries.length === count);
    retries.at(-1)?.();
  };
  await retry(1);
  rmSync(file);
  await retry(2);
  await until("a try without the file is followed by another", async () => retries.length === 3);
  expect(troubles).toHaveLength(1);
  expect(listener.isListening).toBe(false);
  await listener.close();
  rmSync(folder, { recursive: true });
});
