/** The last call of each name, by the object whose calls they are. */
const lasts = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Runs the calls of one name one after the other, within this process. A failed one holds up no other. Each is as long as its
 * own work: the database's time-outs bound it.
 */
export function inTurn<Result>(
  owner: object,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const names = lasts.get(owner) ?? new Map<string, Promise<unknown>>();
  lasts.set(owner, names);
  const done = (names.get(name) ?? Promise.resolve()).then(work);
  const end = done.then(
    () => undefined,
    () => undefined,
  );
  names.set(name, end);
  void end.then(() => {
    if (names.get(name) === end) names.delete(name);
  });
  return done;
}
