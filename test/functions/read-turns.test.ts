import { HttpRequest, InvocationContext } from "@azure/functions";
import { expect, test } from "@jest/globals";
import type { Admin } from "../../shared/admin/create-admin";
import { ReadTurns } from "../../shared/functions/api/read-turns";
import { createApiRoutes } from "../../shared/functions/api/routes";
import { createGate } from "../support/gate";

/*
 * A reader who asks for slow lists and hangs up again kept all connections of a process: its API was down for half a minute, and
 * its workers waited as long. Two reads run at once, the others leave with their requests.
 */

test("reads run two at a time, in the order they came", async () => {
  const turns = new ReadTurns(2);
  const begun: number[] = [];
  const gates = [createGate(), createGate(), createGate(), createGate()];
  const open = new AbortController().signal;
  const reads = gates.map(({ opened }, index) =>
    turns.run(async () => {
      begun.push(index);
      await opened;
      if (index === 1) throw new Error("the second fails");
      return index;
    }, open),
  );
  const settled = Promise.allSettled(reads);
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  gates[1]?.open();
  await expect(reads[1]).rejects.toThrow("the second fails");
  await Promise.resolve();
  expect(begun).toEqual([0, 1, 2]);
  for (const { open: go } of gates) go();
  expect((await settled).map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  expect(begun).toEqual([0, 1, 2, 3]);
});

test("a read whose request is over isn't run, and takes no turn", async () => {
  const turns = new ReadTurns(1);
  const first = createGate();
  const running = turns.run(() => first.opened, new AbortController().signal);
  const over = new AbortController();
  let hasRun = false;
  const read = async (): Promise<void> => {
    hasRun = true;
  };
  const waiting = turns.run(read, over.signal);
  over.abort(new Error("answered without it"));
  await expect(waiting).rejects.toThrow("answered without it");
  await expect(turns.run(read, over.signal)).rejects.toThrow("answered without it");
  expect(hasRun).toBe(false);
  first.open();
  await running;
  await turns.run(read, new AbortController().signal);
  expect(hasRun).toBe(true);
});

test("a list that hangs the database is asked for by two of many requests; a change and the next read aren't in their way", async () => {
  const hanging = createGate();
  let asked = 0;
  const admin = {
    audit: async () => {
      asked += 1;
      await hanging.opened;
      return [];
    },
    resume: async () => ({ status: "resumed" }),
  } as unknown as Admin;
  const routes = createApiRoutes(async () => admin);
  const call = async (name: string, method: "GET" | "POST", body?: string): Promise<number> => {
    const request = new HttpRequest({
      method,
      url: "http://localhost/api",
      params: { name: "a" },
      ...(body === undefined ? {} : { body: { string: body } }),
    });
    const answer = await routes
      .find((route) => route.name === name)
      ?.handler(request, new InvocationContext({ logHandler: () => undefined }));
    return answer?.status ?? 0;
  };
  const reads = Array.from({ length: 30 }, () => call("api-audit", "GET"));
  expect(await call("api-resume", "POST", "{}")).toBe(200);
  expect(new Set(await Promise.all(reads))).toEqual(new Set([503]));
  expect(asked).toBe(2);
  hanging.open();
  expect(await call("api-audit", "GET")).toBe(200);
  expect(asked).toBe(3);
});
