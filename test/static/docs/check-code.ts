import { existsSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { root } from "../../docs/markdown";
import type { CodeBlock } from "../../docs/markdown";

/** Where a block may be meant to stand; the first folder in which its relative imports lead somewhere. */
const folders = ["functions/tasks", "functions", "shared/worker", "test/tsql-server", "."];

/** Names that a reader of the docs has and the repository hasn't. */
const prelude = `declare function callPartner(message: unknown): Promise<void>; declare function readPrices(signal: AbortSignal): Promise<object>;\n`;

/** Compiles blocks as files of the repository, without writing them; answers `page:line message`. */
export function checkCode(blocks: readonly CodeBlock[]): string[] {
  const files = new Map<string, { text: string; block: CodeBlock | null }>();
  files.set(join(root, "functions/prelude-of-the-docs.d.ts"), { text: prelude, block: null });
  blocks.forEach((block, index) => {
    const path = fileOf(block) ?? join(folderOf(block), `block-of-the-docs-${String(index)}.ts`);
    files.set(join(root, path), { text: block.text, block });
  });
  const options = readOptions();
  const host = ts.createCompilerHost(options);
  const fromDisk = { fileExists: host.fileExists, readFile: host.readFile };
  host.fileExists = (path) => files.has(path) || fromDisk.fileExists(path);
  host.readFile = (path) => files.get(path)?.text ?? fromDisk.readFile(path);
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].flatMap((path) => {
    const source = program.getSourceFile(path);
    const block = files.get(path)?.block ?? null;
    return ts
      .getPreEmitDiagnostics(program, source)
      .map((diagnostic) => describeFault(diagnostic, block));
  });
}

/** Blocks that import each other say in their first line where they stand: `// functions/tasks/orders.ts`. */
function fileOf(block: CodeBlock): string | null {
  return (
    /^\/\/ ((?:functions|test)\/[\w./-]+\.ts)$/m.exec(block.text.split("\n")[0] ?? "")?.[1] ?? null
  );
}

function folderOf(block: CodeBlock): string {
  const imports = [...block.text.matchAll(/from "(\.[^"]+)"/g)].map((match) => match[1] ?? "");
  const found = folders.find((folder) =>
    imports.every((path) => existsSync(join(root, folder, `${path}.ts`))),
  );
  return found ?? "functions/tasks";
}

function readOptions(): ts.CompilerOptions {
  const path = join(root, "tsconfig.json");
  const { config } = ts.readConfigFile(path, (file) => ts.sys.readFile(file)) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  return { ...options, noEmit: true, declaration: false, sourceMap: false };
}

function describeFault(diagnostic: ts.Diagnostic, block: CodeBlock | null): string {
  const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, " ");
  const line =
    diagnostic.file === undefined || diagnostic.start === undefined
      ? 0
      : diagnostic.file.getLineAndCharacterOfPosition(diagnostic.start).line;
  return `${block?.page ?? "prelude"}:${String((block?.line ?? 0) + line)} ${message}`;
}
