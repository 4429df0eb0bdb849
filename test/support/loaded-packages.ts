import { execFileSync } from "node:child_process";

/** The packages, ascending, whose files lie at these paths, on any system. */
export function packagesOf(paths: readonly string[]): string[] {
  const names = paths.map(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path.replaceAll("\\", "/"))?.[1],
  );
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/** The packages of which a fresh process has loaded files when it has run `code`. */
export function packagesLoadedBy(
  code: string,
  options: { readonly cwd?: string; readonly nodeArguments?: readonly string[] } = {},
): string[] {
  const { nodeArguments = [], ...where } = options;
  const report = `${code}
    process.stdout.write(JSON.stringify(Object.keys(require.cache)));
    // Not after the repeats of a call that reaches no server.
    process.exit();`;
  const answer = execFileSync(process.execPath, [...nodeArguments, "-e", report], {
    ...where,
    encoding: "utf8",
  });
  return packagesOf(JSON.parse(answer) as string[]);
}
