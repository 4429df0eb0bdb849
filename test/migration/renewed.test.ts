import { afterEach, expect, test } from "@jest/globals";
import { SchemaError, StoreConflictError } from "../../shared/core/errors";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { mapPostgresError } from "../../shared/store/postgres/postgres-errors";
import { useContention } from "../support/use-contention";
import { urlAs } from "../support/roles";

/* `taskgate migrate` renews the functions while workers are connected: their calls go on with the new ones. */
const scene = useContention(() => true); // functions are replaced
const stores: TaskStore[] = [];

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
});

/** As the product has it: it repeats what was undone. */
function open(): TaskStore {
  const url = urlAs(scene.url, "operator");
  const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  stores.push(store);
  return store;
}

/** `list_stopped` with this body and further results. */
const listStopped = (body: string, results = ""): string =>
  `create function taskgate.list_stopped(p_max int, out status text, out definitions text, out schedules text, out stop text${results})
   language plpgsql security definer as $$ begin ${body} status := 'listed'; definitions := '[]'; schedules := '[]'; end $$;
   grant execute on function taskgate.list_stopped(int) to taskgate_operator;`;

// At another level than read committed each call is a transaction.
test.each(["read committed", "repeatable read"])(
  "a statement that was prepared before an operation got another result is prepared anew (%s)",
  async (level) => {
    await scene.client.query(
      `do $$ begin execute format('alter database %I set default_transaction_isolation = ''${level}''', current_database()); end $$`,
    );
    const store = open();
    await store.listStopped({ max: 1 });
    await scene.client.query("drop function taskgate.list_stopped(int)");
    await scene.client.query(listStopped("", ", out further int"));

    expect(await store.listStopped({ max: 1 })).toMatchObject({ definitions: [] });
  },
);

test("a call whose function calls one that is dropped meanwhile is made again", async () => {
  const store = open();
  await scene.client.query("drop function taskgate.list_stopped(int)");
  await scene.client.query(
    `create function taskgate._renewed(p int) returns void language sql as ''`,
  );
  await scene.client.query(
    listStopped("perform pg_advisory_xact_lock(7, 7); perform taskgate._renewed(1);"),
  );
  const gate = await scene.connect();
  await gate.query("begin");
  await gate.query("select pg_advisory_xact_lock(7, 7)");
  const called = store.listStopped({ max: 1 });
  called.catch(() => undefined);
  await scene.untilWaiting(1);
  await gate.query("drop function taskgate._renewed(int)");
  await gate.query("drop function taskgate.list_stopped(int)");
  await gate.query(listStopped(""));
  await gate.query("commit");

  expect(await called).toMatchObject({ definitions: [] });
});

/** As PostgreSQL 15 says it where its `lc_messages` is de_DE. */
const inGerman = {
  outdatedPlan: {
    message: "gecachter Plan darf den Ergebnistyp nicht ändern",
    code: "0A000",
    routine: "RevalidateCachedQuery",
  },
  outdatedBody: {
    message: "Funktion taskgate._a(integer) existiert nicht",
    code: "42883",
    where: "PL/pgSQL-Funktion taskgate.work(bigint) Zeile 9 bei PERFORM",
    routine: "ParseFuncOrColumn",
  },
};

test.each(Object.entries(inGerman))(
  "a server that speaks another language is understood: %s",
  (_, said) => {
    const error = mapPostgresError(Object.assign(new Error(said.message), said), "sent");
    expect(error).toBeInstanceOf(StoreConflictError);
    expect(error).toMatchObject({ isRetryable: true, details: { isRenewal: true } });
  },
);

test("another error of missing functions is no renewal", () => {
  const said = (code: string, message: string, where?: string): Error =>
    mapPostgresError(Object.assign(new Error(message), { code, where }), "sent");
  const context = "PL/pgSQL function taskgate.work(bigint) line 9 at PERFORM";
  expect(said("XX000", "cache lookup failed for function 59445")).toBeInstanceOf(
    StoreConflictError,
  );
  expect(said("42883", "function taskgate._a(int) does not exist", context)).toBeInstanceOf(
    StoreConflictError,
  );
  expect(said("42883", "function taskgate.work(int) does not exist")).toBeInstanceOf(SchemaError);
  for (const [code, message] of [
    ["XX000", "could not find tuple for trigger"],
    ["0A000", "cannot use this feature"],
  ] as const)
    expect(said(code, message)).toMatchObject({ code: "TASKGATE_STORE_CONTRACT" });
});
