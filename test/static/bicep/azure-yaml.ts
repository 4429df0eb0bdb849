/** What the checks need of azure.yaml. */
export interface AzureYaml {
  readonly serviceName: string;
  readonly infraPath: string;
  readonly infraModule: string;
  readonly hooks: readonly Hook[];
}

/** A hook with its command in both shells, environment variables written the same way. */
export interface Hook {
  readonly name: string;
  readonly posix: string;
  readonly windows: string;
  /** Environment variables that the command reads. */
  readonly variables: readonly string[];
}

/**
 * Reads azure.yaml by indentation: enough for the file we write, and no YAML library is among our
 * dependencies.
 */
export function readAzureYaml(text: string): AzureYaml {
  const value = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? "";
  return {
    serviceName: value(/^services:\n {2}([\w-]+):/m),
    infraPath: value(/^infra:\n(?: {2}.*\n)*? {2}path: (\S+)/m),
    infraModule: value(/^infra:\n(?: {2}.*\n)*? {2}module: (\S+)/m),
    hooks: readHooks(text),
  };
}

function readHooks(text: string): readonly Hook[] {
  const hook = /^( *)(\w+):\n\1 {2}posix:\n((?:\1 {4}.*\n)+)\1 {2}windows:\n((?:\1 {4}.*\n)+)/gm;
  return [...text.matchAll(hook)].map(([, , name = "", posix = "", windows = ""]) => {
    const command = readCommand(posix, "sh").replace(/\$\{?([A-Z][A-Z0-9_]*)\}?/g, "<$1>");
    return {
      name,
      posix: command,
      windows: readCommand(windows, "pwsh").replace(/\$\{env:([A-Z][A-Z0-9_]*)\}/g, "<$1>"),
      variables: [...command.matchAll(/<([A-Z]\w+)>/g)].map(([, variable = ""]) => variable),
    };
  });
}

/** The command of one shell, lines of a folded block joined as YAML does. */
function readCommand(block: string, shell: string): string {
  const [first = "", second = "", ...more] = block
    .trimEnd()
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "interactive: true");
  if (first !== `shell: ${shell}` || !second.startsWith("run: ")) {
    throw new Error(`azure.yaml: expected "shell: ${shell}" and "run:", found:\n${block}`);
  }
  const inline = second.slice("run: ".length);
  return inline === ">-" ? more.join(" ") : [inline, ...more].join(" ");
}
