/** Colours of the terminal, or none. */
export interface Theme {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly accent: (text: string) => string;
}

const plain = (text: string): string => text;

/** No colours. */
export const plainTheme: Theme = {
  strong: plain,
  faint: plain,
  good: plain,
  bad: plain,
  accent: plain,
};

/**
 * Colours on a terminal that isn't dumb, unless NO_COLOR (no-color.org) is set. FORCE_COLOR (force-color.org) decides
 * before both: `0` and `false` mean none, anything else means colours also where the output is no terminal.
 */
export function chooseTheme(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Theme {
  const { NO_COLOR: none = "", FORCE_COLOR: forced = "", TERM: terminal } = environment;
  const isColoured =
    forced === ""
      ? stream.isTTY === true && none === "" && terminal !== "dumb"
      : forced !== "0" && forced !== "false";
  if (!isColoured) return plainTheme;
  const colour = (code: number) => (text: string) => `\u001b[${String(code)}m${text}\u001b[0m`;
  return {
    strong: colour(1),
    faint: colour(2),
    good: colour(32),
    bad: colour(31),
    accent: colour(36),
  };
}
