import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { hasProgram } from "../support/programs";
import { root } from "./markdown";
import { pasteShell } from "./paste-shell";
import { testBlocksRan } from "./run-blocks";

/* Goal: the commands beside the certificates of the tests make such a certificate anew, with its key. */
const product = "test/fixtures/tls/README.md";
const server = "test/tsql-server/fixtures/tls/README.md";

/** `npm test` needs no openssl. */
const describeWithOpenssl = hasProgram("openssl") ? describe : describe.skip;

describeWithOpenssl("the certificates of the tests", () => {
  test.each([product, server])("the command of %s makes such a certificate anew", async (page) => {
    const folder = mkdtempSync(join(tmpdir(), "taskgate-certificate-"));
    const read = (path: string): X509Certificate =>
      new X509Certificate(readFileSync(join(path, "certificate.pem")));
    try {
      await pasteShell([page, "certificate"], { folder });
      const made = read(folder);
      const kept = read(join(root, dirname(page)));
      const facts = ({ subject, subjectAltName, ca, keyUsage }: X509Certificate): unknown[] => [
        subject,
        subjectAltName,
        ca,
        keyUsage,
      ];
      expect(facts(made)).toEqual(facts(kept));
      const inAHundredYears = Date.now() + 36_499 * 86_400_000;
      expect(Date.parse(made.validTo)).toBeGreaterThan(inAHundredYears);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  testBlocksRan([
    [product, "certificate"],
    [server, "certificate"],
  ]);
});
