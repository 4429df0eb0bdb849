/**
 * Milliseconds by a clock that all processes of this machine share and that is never set: the ledger of a run is
 * compared by. `performance.now()` begins anew in each process.
 */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
