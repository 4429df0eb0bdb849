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
 * Reads azure.yaml by indentation: enough for the file we write, and no YAML library is a dependency
 * of ours.
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
  const pattern =
    /^( *)(\w+):\n\1 {2}posix:\n\1 {4}shell: sh\n\1 {4}run: (.*)\n\1 {2}windows:\n\1 {4}shell: pwsh\n\1 {4}run: (.*)$/gm;
  return [...text.matchAll(pattern)].map(([, , name = "", posix = "", windows = ""]) => {
    const command = posix.replace(/\$\{?([A-Z][A-Z0-9_]*)\}?/g, "<$1>");
    return {
      name,
      posix: command,
      windows: windows.replace(/\$\{env:([A-Z][A-Z0-9_]*)\}/g, "<$1>"),
      variables: [...command.matchAll(/<(\w+)>/g)].map(([, variable = ""]) => variable),
    };
  });
}
