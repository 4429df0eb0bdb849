import { types } from "node:util";

/*
 * jest runs test files in a realm of its own, where errors of Node's file system are no `instanceof Error`. The
 * product tells a missing folder by such an error; here it must see what it sees outside jest. Imported for its effect.
 */
Object.defineProperty(Error, Symbol.hasInstance, {
  value(this: unknown, value: unknown): boolean {
    if (this === Error && types.isNativeError(value)) return true;
    return Function.prototype[Symbol.hasInstance].call(this, value);
  },
});
