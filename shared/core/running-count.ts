/**
 * How many handlers run under a lease, where the thread that renews leases reads it while the event loop is blocked: it needs to
 * know under which of them the one may run that blocks.
 */
export class RunningCount {
  readonly cell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

  begin(): void {
    Atomics.add(this.cell, 0, 1);
  }

  end(): void {
    Atomics.sub(this.cell, 0, 1);
  }
}
