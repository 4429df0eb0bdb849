/** Colours of the terminal, or none. */
export interface Theme {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly accent: (text: string) => string;
}

const plain = (text: string): string => text;

/** Colours unless NO_COLOR (no-color.org) is set, the terminal is dumb, or the output is no terminal. */
export function chooseTheme(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Theme {
  const { NO_COLOR: noColour, TERM: terminal } = environment;
  const isWanted = noColour === undefined || noColour === "";
  if (stream.isTTY !== true || !isWanted || terminal === "dumb") {
    return { strong: plain, faint: plain, good: plain, bad: plain, accent: plain };
  }
  const colour = (code: number) => (text: string) => `\u001b[${String(code)}m${text}\u001b[0m`;
  return {
    strong: colour(1),
    faint: colour(2),
    good: colour(32),
    bad: colour(31),
    accent: colour(36),
  };
}
