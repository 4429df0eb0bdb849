// The driver must see errors of sockets here as it does outside jest.
import "../support/node-errors";
import { afterAll, describe } from "@jest/globals";
import { seeded, serverErrors } from "../tsql-server/tds/faults";
import type { FaultPoint } from "../tsql-server/tds/faults";
import { testSeed } from "../support/builders";
import { simulatedMssqlSetup } from "../support/simulated-mssql-setup";
import { describeStore } from "./store.contract";

/*
 * Who moves next is drawn by lot, a few steps at a time, and one call in twenty is lost before it is run, or is a
 * deadlock's victim: the store repeats it. An answer lost behind its effect is tested in test/tsql/wire/store.test.ts, since a repeat
 * answers `again` where the suite expects the first answer.
 */
const seed = testSeed();

/** Not repeated by the store: users' transactions and statements, and enqueues without an operation id. */
function isSpared(point: FaultPoint): boolean {
  if (point.place !== "request" || point.isInTransaction) return true;
  if (point.request.kind !== "procedure") return true;
  const id = point.request.arguments.find(({ name }) => name === "@OperationId")?.value;
  return id?.kind === "scalar" && id.value === null;
}

const setup = simulatedMssqlSetup({
  engine: { seed, stepsPerTurn: 20 },
  switches: { rowsBackwards: true },
  fault: seeded({
    seed,
    rate: 0.05,
    spares: isSpared,
    faults: [
      { kind: "cut", at: "before", manner: "rst" },
      { kind: "cut", at: "before", manner: "fin" },
      { kind: "error", error: serverErrors.deadlock },
    ],
  }),
});
afterAll(() => setup.close());

describe(`The simulated SQL Server keeps the contract when calls interleave and are lost (seed ${String(seed)})`, () => {
  describeStore(setup);
});
