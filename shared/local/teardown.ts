import { messageOf } from "../core/foreign-value";
/** Started services that must be ended, last started first. */
export class Teardown {
  readonly #steps: { readonly name: string; readonly end: () => Promise<void> | void }[] = [];
  #run: Promise<string[]> | undefined;

  /** Notes how to end a service that was just started. `name` is for messages. */
  add(name: string, end: () => Promise<void> | void): void {
    this.#steps.push({ name, end });
  }

  /** Ends everything; one that fails holds up no other. Resolves to what went wrong. A second call waits for the first. */
  run(): Promise<string[]> {
    this.#run ??= this.#endAll();
    return this.#run;
  }

  async #endAll(): Promise<string[]> {
    const problems: string[] = [];
    // Steps that are added meanwhile, by a start that is still under way, are ended, too.
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step.end();
      } catch (error) {
        const reason = messageOf(error);
        problems.push(`${step.name} could not be ended: ${reason}`);
      }
    }
    return problems;
  }
}
