import { describe, test } from "@jest/globals";

const isPosix = process.platform !== "win32";

/** For tests that want a shell of POSIX, or programs that are shell scripts: told as skipped on Windows. */
export const describePosix: typeof describe.skip = isPosix ? describe : describe.skip;

/** As `describePosix`, a test alone. */
export const testPosix: typeof test.skip = isPosix ? test : test.skip;
