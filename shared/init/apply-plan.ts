import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseJsonWithComments } from "../core/json-comments";
import { jsonValue } from "../core/json-members";
import type { InitChange, InitPlan } from "./plan";

/**
 * Makes the changes of a plan. Texts that were there keep their indentation and line ends. Throws an Error with a sentence
 * for people before the first change when one of them can't be made.
 */
export function applyPlan({ root, changes }: InitPlan): void {
  const texts = new Map<string, { text: string; isNew: boolean }>();
  const dependencies = changes.filter((change) => change.kind === "dependency");
  if (dependencies.length > 0) {
    const text = addDependencies(readFileSync(join(root, "package.json"), "utf8"), dependencies);
    texts.set("package.json", { text, isNew: false });
  }
  const settings = changes.filter((change) => change.kind === "setting");
  if (settings.length > 0) {
    const path = join(root, "local.settings.json");
    const isNew = !existsSync(path);
    const before = isNew ? emptySettings : readFileSync(path, "utf8");
    texts.set("local.settings.json", { text: addSettings(before, settings), isNew });
  }
  for (const change of changes)
    if (change.kind === "file") texts.set(change.path, { text: change.text, isNew: true });
  for (const name of texts.keys()) checkWritable(root, name);
  for (const [name, { text, isNew }] of texts) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    // A file that came into being meanwhile isn't overwritten.
    writeFileSync(path, text, { flag: isNew ? "wx" : "w" });
  }
}

/** Throws an Error that names the file, and the folder where it isn't there yet. */
function checkWritable(root: string, name: string): void {
  let path = join(root, name);
  while (!existsSync(path)) path = dirname(path);
  try {
    accessSync(path, constants.W_OK);
  } catch {
    throw new Error(`${name} can't be written: no right to write ${path}. Nothing was changed.`);
  }
}

const emptySettings = '{\n  "IsEncrypted": false,\n  "Values": {}\n}\n';

type Dependency = Extract<InitChange, { readonly kind: "dependency" }>;
type Setting = Extract<InitChange, { readonly kind: "setting" }>;

/** The text of package.json with further dependencies, in the order of their names, as npm writes them. Pure. */
export function addDependencies(before: string, added: readonly Dependency[]): string {
  const manifest = parseJsonWithComments(before) as Record<string, unknown>;
  for (const section of ["dependencies", "devDependencies"] as const) {
    const news = added.filter((dependency) => dependency.section === section);
    if (news.length === 0) continue;
    const listed = (manifest[section] ?? {}) as Readonly<Record<string, string>>;
    const all = { ...listed, ...Object.fromEntries(news.map((one) => [one.name, one.version])) };
    manifest[section] = Object.fromEntries(
      Object.entries(all).sort(([left], [right]) => (left < right ? -1 : 1)),
    );
  }
  return writeLike(before, manifest);
}

/** The text of local.settings.json with further values, the first among `Values`. Its comments stay. Pure. */
export function addSettings(before: string, added: readonly Setting[]): string {
  const values = Object.fromEntries(added.map(({ name, value }) => [name, value]));
  const file = jsonValue(before) as Record<string, unknown> | undefined;
  if (file !== undefined) {
    const own = (file["Values"] ?? {}) as Readonly<Record<string, unknown>>;
    return writeLike(before, { ...file, Values: { ...own, ...values } });
  }
  const lines = added.map(({ name, value }) => `"${name}": ${JSON.stringify(value)},`);
  const text = before.replace(/"Values"\s*:\s*\{/, (start) => `${start} ${lines.join(" ")}`);
  if (!holds(text, values))
    throw new Error(
      `local.settings.json has comments in a place where no value can be added. Add these by hand: ${Object.keys(values).join(", ")}.`,
    );
  return text;
}

function holds(text: string, values: Readonly<Record<string, string>>): boolean {
  const file = parseJsonWithComments(text) as { Values?: Readonly<Record<string, unknown>> };
  return Object.entries(values).every(([name, value]) => file.Values?.[name] === value);
}

/** JSON with the indentation, the line ends and the last line end of another text. */
function writeLike(before: string, value: unknown): string {
  const indent = /\n([ \t]+)"/.exec(before)?.[1] ?? "  ";
  const text = JSON.stringify(value, null, indent) + (/\n\s*$/.test(before) ? "\n" : "");
  return before.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
}
