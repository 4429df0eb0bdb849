import { expect, test } from "@jest/globals";
import { define } from "../support/builders";
import { useContention } from "../support/use-contention";
import { schedule, setAll } from "./schedule-builders";

/*
 * PostgreSQL plans an expression of a function when a session first comes to it: what a session does first must not depend on
 * what another has done before.
 */
const scene = useContention();

test("a process that has made no schedule yet changes one", async () => {
  const store = scene.openStore(1);
  const name = await define(store);
  const nightly = schedule({ name: "nightly" });
  expect(await setAll(store, name, [nightly])).toMatchObject({ status: "set", changed: 1 });
  const other = scene.openStore(1);
  expect(await setAll(other, name, [{ ...nightly, missed: "all" }])).toMatchObject({
    status: "set",
    changed: 1,
  });
});
