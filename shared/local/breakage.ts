/** Tells the first part of a run that ends by itself. */
export class Breakage {
  readonly told: Promise<string>;
  #tell: (sentence: string) => void = () => undefined;

  constructor() {
    this.told = new Promise((resolve) => {
      this.#tell = resolve;
    });
  }

  watch(name: string, exited: Promise<string>): void {
    void exited.then((lastWords) => {
      this.tell(name, lastWords);
    });
  }

  tell(name: string, lastWords: string): void {
    const words = lastWords.trim().split("\n").slice(-3).join(" ");
    this.#tell(`${name} ended by itself${words === "" ? "" : `: ${words}`}.`);
  }
}
