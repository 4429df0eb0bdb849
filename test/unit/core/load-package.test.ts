import { expect, test } from "@jest/globals";
import type * as Pg from "pg";
import { isInstalled, loadPackage } from "../../../shared/core/load-package";
import type { OptionalPackage } from "../../../shared/core/load-package";

test("the loader gives an optional package that is installed", () => {
  expect(typeof loadPackage<typeof Pg>("pg").Pool).toBe("function");
});

test("the loader names an optional package that is missing, and the command that installs it", () => {
  // The repository has every optional package, so the name of an unknown one stands for it.
  const missing = "no-such-package" as OptionalPackage;
  expect(isInstalled(missing)).toBe(false);
  expect(() => loadPackage(missing)).toThrow(
    expect.objectContaining({
      code: "TASKGATE_PACKAGE_MISSING",
      message: expect.stringContaining("run `npm install no-such-package`") as unknown,
    }),
  );
});
