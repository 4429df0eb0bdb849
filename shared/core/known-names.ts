import { InvalidArgumentError } from "./errors";
import { isObject } from "./foreign-value";
import { didYouMean } from "./near-name";
import { cleanText } from "./text";
import { wrongValue } from "./wrong-value";

/** What other libraries call options of ours. */
const synonyms: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    backoff: ["retry"],
    concurrency: ["limit"],
    cron: ["schedules", "schedule"],
    data: ["input"],
    delay: ["runInMs"],
    delayMs: ["runInMs"],
    handler: ["run"],
    id: ["dedupeKey"],
    jobId: ["dedupeKey"],
    key: ["dedupeKey"],
    maxAttempts: ["attempts", "retry"],
    maxConcurrency: ["limit"],
    process: ["run"],
    retries: ["retry"],
    retryLimit: ["attempts", "retry"],
    runAfter: ["runAt"],
    schema: ["input"],
    singletonKey: ["dedupeKey"],
    startAfter: ["runAt"],
    timeout: ["timeoutMs"],
  }),
);

/**
 * Refuses names that an object of options has and that mean nothing: a typo would be ignored without a word. For authors
 * without TypeScript. Throws InvalidArgumentError naming the option, where it stands, a near name, and all known ones; and for
 * a value that is no object of options.
 */
export function checkNames(where: string, options: object, known: readonly string[]): void {
  // Arrays, functions and texts have names of members, too.
  if (!isObject(options)) throw wrongValue(where, `an object, of ${known.join(", ")}`, options);
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const field = cleanText(name, 200);
    const same = synonyms.get(name)?.find((other) => known.includes(other));
    const near = same === undefined ? didYouMean(name, known) : ` Here it is \`${same}\`.`;
    throw new InvalidArgumentError(
      `${field}: unknown option of ${where}.${near} Known are ${known.join(", ")}`,
      { details: { field } },
    );
  }
}
