/** Of each connection: the end of its last call, without what that answered. */
const lastOf = new WeakMap<object, Promise<void>>();
const nothing = (): void => undefined;

/**
 * Runs `body` when the calls before it on `connection` have ended, well or not: a connection takes one statement at a time,
 * and drivers refuse a second one or warn of it. Callers may well have sent several at once.
 */
export function inTurn<Result>(connection: object, body: () => Promise<Result>): Promise<Result> {
  const last = lastOf.get(connection);
  const turn = last === undefined ? body() : last.then(body);
  lastOf.set(connection, turn.then(nothing, nothing));
  return turn;
}
