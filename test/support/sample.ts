import { existsSync } from "node:fs";
import { join } from "node:path";

/** The sample's code. docs/guides/drop-the-sample.md deletes it together with its tests in test/sample. */
export const sampleFolder = "functions/tasks/flights";

/** An app may have dropped the sample: tests of the product leave out what they say of it there. */
export const hasSample = existsSync(join(__dirname, "..", "..", sampleFolder));
