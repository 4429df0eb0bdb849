import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The repository. */
export const root = join(__dirname, "../..");

/** A fenced block of code. */
export interface CodeBlock {
  readonly page: string;
  /** Of its first line. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The name in an HTML comment right above: `<!-- task -->`. */
  readonly marker: string | null;
}

/** Markdown pages of the repository, from its root. */
export function listPages(): string[] {
  const top = readdirSync(root).filter((name) => name.endsWith(".md"));
  const docs = readdirSync(join(root, "docs"), { recursive: true })
    .map((name) => join("docs", String(name)))
    .filter((path) => path.endsWith(".md"));
  return [...top, ...docs].sort();
}

/** The text of a page. */
export function readPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** All fenced blocks of a page. */
export function readBlocks(page: string): CodeBlock[] {
  const lines = readPage(page).split("\n");
  const blocks: CodeBlock[] = [];
  let open: { language: string; line: number; fence: string; marker: string | null } | null = null;
  lines.forEach((line, index) => {
    const fence = /^\s*(`{3,})(\w*)\s*$/.exec(line);
    if (fence === null) {
      // Else the block would be read as prose, and its end as a beginning.
      if (open === null && /^\s*(?:`{3}|~{3})/.test(line))
        throw new Error(
          `${page}:${String(index + 1)}: expected a fence with one word, got ${line}`,
        );
      return;
    }
    if (open === null) {
      const above = lines.slice(0, index).findLast((candidate) => candidate.trim() !== "") ?? "";
      const marker = /^<!-- ([\w-]+) -->$/.exec(above.trim())?.[1] ?? null;
      open = { language: fence[2] ?? "", line: index + 2, fence: fence[1] ?? "", marker };
    } else if (fence[1] === open.fence) {
      const text = lines.slice(open.line - 1, index).join("\n");
      blocks.push({ page, line: open.line, language: open.language, text, marker: open.marker });
      open = null;
    }
  });
  return blocks;
}

/** The block of a page under that marker. */
export function readBlock(page: string, marker: string): CodeBlock {
  const block = readBlocks(page).find((candidate) => candidate.marker === marker);
  if (block === undefined) throw new Error(`${page} has no block under <!-- ${marker} -->`);
  return block;
}

/** The page without its code. */
export function readProse(page: string): string {
  return readPage(page)
    .replace(/^(\s*)(`{3,})\w*\n[\s\S]*?^\1\2\s*$/gm, "")
    .replace(/`[^`\n]+`/g, "");
}

/** Links that lead nowhere: `page: target`. */
export function findDeadLinks(page: string): string[] {
  const targets = [...readProse(page).matchAll(/\]\(([^()\s]+)\)/g)].map((match) => match[1] ?? "");
  return targets
    .filter((target) => !/^[a-z][a-z+.-]*:/.test(target))
    .filter((target) => !leadsSomewhere(page, target))
    .map((target) => `${page}: ${target}`);
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : relative(root, join(root, dirname(page), path));
  if (!existsSync(join(root, file))) return false;
  return anchor === undefined || (file.endsWith(".md") && readAnchors(file).has(anchor));
}

/** Anchors of the headings, as GitHub makes them. */
function readAnchors(page: string): Set<string> {
  const headings = [...readProse(page).matchAll(/^#{1,6} (.+)$/gm)].map((match) => match[1] ?? "");
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, "")
        .trim()
        .replace(/\s/g, "-"),
    ),
  );
}
