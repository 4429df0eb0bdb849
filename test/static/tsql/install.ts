/**
 * What a server refuses when our T-SQL is installed, as far as names alone tell it: an object made too late for its user,
 * and rights that a role lacks. Microsoft's schema model says more, where .NET is at hand.
 */

/** One file of the installation. */
export interface InstalledFile {
  /** Relative to the T-SQL folder. */
  readonly name: string;
  readonly text: string;
}

interface Made {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
}

const name = String.raw`Taskgate\.(\w+)`;
const makes = new RegExp(
  String.raw`^\s*CREATE (?:OR ALTER )?(PROCEDURE|FUNCTION|VIEW|TABLE|TYPE|SEQUENCE) ${name}`,
  "i",
);
const grants = new RegExp(String.raw`GRANT (\w+) ON (OBJECT|TYPE)::${name} TO ([\w, ]+);`, "g");

/** Without comments and texts, cut at GO and before each CREATE. */
function readStatements(file: InstalledFile): string[] {
  const code = file.text.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|N?'(?:[^']|'')*'/g, " ");
  return code.split(/^\s*GO\s*$/m).flatMap((batch) => batch.split(/^(?=CREATE )/m));
}

function readMade(text: string): Made | null {
  const match = makes.exec(text);
  return match === null
    ? null
    : { kind: (match[1] ?? "").toUpperCase(), name: match[2] ?? "", text };
}

function namesIn(text: string): Set<string> {
  return new Set([...text.matchAll(new RegExp(name, "g"))].map((match) => match[1] ?? ""));
}

/** Views and inline functions are bound when they are made; procedures and other functions are bound when they run. */
function isBoundAtCreate(made: Made): boolean {
  return made.kind === "VIEW" || (made.kind === "FUNCTION" && /RETURNS TABLE\b/i.test(made.text));
}

/** In the order of `files`: names that are needed before they are there (208, 2715, 15151). */
export function findOrderFaults(files: readonly InstalledFile[]): string[] {
  const faults: string[] = [];
  const all = files.flatMap((file) => readStatements(file).map(readMade));
  const types = new Set(all.flatMap((made) => (made?.kind === "TYPE" ? [made.name] : [])));
  const there = new Set<string>();
  for (const file of files) {
    for (const text of readStatements(file)) {
      const made = readMade(text);
      for (const needed of namesIn(text)) {
        if (needed === made?.name || there.has(needed)) continue;
        if (types.has(needed)) faults.push(`${file.name}: 2715 needs the type ${needed}`);
        else if (made !== null && isBoundAtCreate(made))
          faults.push(`${file.name}: 208 needs ${needed}`);
        else if (made === null && /\bGRANT\b/.test(text))
          faults.push(`${file.name}: 15151 needs ${needed}`);
      }
      if (made !== null) there.add(made.name);
    }
  }
  return faults;
}

/** Rights that roles lack for the procedures that they may execute (229), and procedures that no role may execute. */
export function findRightFaults(files: readonly InstalledFile[]): string[] {
  const all = files.flatMap((file) => readStatements(file).flatMap((text) => readMade(text) ?? []));
  const procedures = new Map(
    all.filter((made) => made.kind === "PROCEDURE").map((made) => [made.name, made.text]),
  );
  const types = new Set(all.filter((made) => made.kind === "TYPE").map((made) => made.name));
  const granted = readGrants(files);
  const faults = new Set<string>();
  for (const procedure of procedures.keys()) {
    const roles = granted.get(procedure) ?? new Set<string>();
    if (roles.size === 0 && !procedure.startsWith("_"))
      faults.add(`${procedure} is granted to nobody`);
    for (const type of reach(procedure, procedures).filter((needed) => types.has(needed))) {
      for (const role of roles) {
        if (granted.get(type)?.has(role) !== true)
          faults.add(`229: ${role} may execute ${procedure}, not its type ${type}`);
      }
    }
  }
  return [...faults];
}

/** What `role` may do beside executing. */
export function listReadable(files: readonly InstalledFile[], role: string): string[] {
  return files.flatMap((file) =>
    [...file.text.matchAll(grants)].flatMap(([, right = "", , object = "", roles = ""]) =>
      right !== "EXECUTE" && roles.split(", ").includes(role) ? [`${right} ${object}`] : [],
    ),
  );
}

/** Object or type -> roles that may execute it. */
function readGrants(files: readonly InstalledFile[]): Map<string, Set<string>> {
  const granted = new Map<string, Set<string>>();
  for (const file of files) {
    for (const [, right, , object = "", roles = ""] of file.text.matchAll(grants)) {
      if (right !== "EXECUTE") continue;
      const known = granted.get(object) ?? new Set<string>();
      for (const role of roles.split(", ")) known.add(role);
      granted.set(object, known);
    }
  }
  return granted;
}

/** Everything that a procedure names, and what the procedures that it calls name. */
function reach(start: string, procedures: ReadonlyMap<string, string>): string[] {
  const seen = new Set<string>([start]);
  for (const one of seen) {
    for (const needed of namesIn(procedures.get(one) ?? "")) seen.add(needed);
  }
  return [...seen];
}
