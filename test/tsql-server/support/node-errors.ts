import { types } from "node:util";

/*
 * jest runs test files in a realm of its own, where errors of Node's file system are no `instanceof Error`. The
 * driver, and programs under test, ask for it; here they must see what they see outside jest. Imported for its effect.
 */
Object.defineProperty(Error, Symbol.hasInstance, {
  value(this: unknown, value: unknown): boolean {
    if (this === Error && types.isNativeError(value)) return true;
    return Function.prototype[Symbol.hasInstance].call(this, value);
  },
});
