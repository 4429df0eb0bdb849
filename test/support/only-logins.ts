import { createRequire } from "node:module";
import { afterAll, expect } from "@jest/globals";
import type * as CallRecordFile from "./call-record";
import type * as RolesFile from "./roles";

/**
 * Loaded by every test file, so it loads a driver only where one is looked at. In the contract suite and the tests of `functions/` each operation is called by a login of the
 * shipped roles: an owner's connection is for fixtures, the clock and planted faults. A call of another login fails the file.
 */
const { testPath = "" } = expect.getState();
/** Its subject is the record itself: it calls as the owner on purpose. */
const isAboutTheRecord = testPath.endsWith("planted-rights.test.ts");

if (/[\\/]test[\\/](?:contract|functions)[\\/]/u.test(testPath) && !isAboutTheRecord) {
  const load = createRequire(__filename);
  const { recordCalls } = load("./call-record") as typeof CallRecordFile;
  const { appLogin, loginNames } = load("./roles") as typeof RolesFile;
  const record = recordCalls();
  const logins = [...Object.values(loginNames), appLogin];
  afterAll(() => {
    const others = record.users.filter((user) => !logins.includes(user));
    const calls = Object.fromEntries(others.map((user) => [user, record.callsOf(user)]));
    expect({ "calls by somebody else than the tests' logins": calls }).toEqual({
      "calls by somebody else than the tests' logins": {},
    });
  });
}
