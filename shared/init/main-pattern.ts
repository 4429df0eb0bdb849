/** What `main` in package.json names: the compiled files that the Functions host loads. Pure. */

/** One alternative of `main`. */
export interface MainPattern {
  /** The folder, with slashes; empty: that of package.json. */
  readonly folder: string;
  /** Every file in the folder is loaded, not only one of a certain name. */
  readonly isWholeFolder: boolean;
  /** `.js`, `.mjs` or `.cjs`. */
  readonly ending: string;
}

/**
 * The alternative in which a new file is best placed: one that loads whole folders before one that names files.
 * `dist/src/{index,functions/*}.js` gives `dist/src/functions`.
 */
export function readMain(main: string): MainPattern {
  const all = expandBraces(main.replace(/^\.\//, "")).map(readAlternative);
  return all.find(({ isWholeFolder }) => isWholeFolder) ?? all[0] ?? readAlternative("");
}

function readAlternative(pattern: string): MainPattern {
  const steps = pattern.split("/");
  const at = steps.findIndex((step) => step.includes("*"));
  const folder = steps.slice(0, at === -1 ? -1 : at).join("/");
  const ending = /\.[cm]?js$/.exec(pattern)?.[0] ?? ".js";
  return { folder, isWholeFolder: at !== -1, ending };
}

function expandBraces(pattern: string): string[] {
  const [, before, inside, behind] = /^([^{]*)\{([^{}]*)\}(.*)$/.exec(pattern) ?? [];
  if (before === undefined || inside === undefined || behind === undefined) return [pattern];
  return inside.split(",").flatMap((choice) => expandBraces(before + choice + behind));
}
