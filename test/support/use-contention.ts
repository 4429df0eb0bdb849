import { afterEach, beforeEach, expect } from "@jest/globals";
import { openContention } from "./contention";
import type { Contention } from "./contention";

/**
 * A database of its own for each test of a file. After each test it must be sound, unless `isDamaged` says that the test
 * planted a fault.
 */
export function useContention(isDamaged: () => boolean = () => false): Contention {
  let current: Contention | null = null;
  beforeEach(async () => {
    current = await openContention();
  });
  afterEach(async () => {
    try {
      if (isDamaged()) return;
      const answer = await current?.openStore(1).checkInvariants();
      expect(answer).toEqual({ status: "sound", findings: [] });
    } finally {
      await current?.close();
    }
  });
  return new Proxy({} as Contention, {
    get: (_, name): unknown => {
      if (current === null) throw new Error("Only tests have a database");
      return Reflect.get(current, name);
    },
  });
}
