/** An operator that reads a table from one end to the other. */
export interface Scan {
  /** Clustered Index Scan, Index Scan or Table Scan. */
  readonly operator: string;
  readonly table: string;
  /** Empty: a heap. */
  readonly index: string;
  /** The statement's text as the plan has it, shortened. */
  readonly statement: string;
}

const schema = "Taskgate";
const scanOperators = new Set(["Clustered Index Scan", "Index Scan", "Table Scan"]);
const statementLengthMax = 160;

/**
 * Scans of the core's tables in a plan (showplan XML). Table variables, rows of OPENJSON and constants are read whole by
 * nature: they have another schema or none.
 */
export function findScans(planXml: string): Scan[] {
  const scans: Scan[] = [];
  let statement = "";
  let operator: string | undefined;
  for (const [, element, attributes = ""] of planXml.matchAll(
    /<(Stmt\w+|RelOp|Object)\b([^>]*)>/g,
  )) {
    if (element === "RelOp") {
      const physical = attributeOf(attributes, "PhysicalOp");
      operator = scanOperators.has(physical) ? physical : undefined;
    } else if (element !== "Object") {
      statement = attributeOf(attributes, "StatementText");
    } else if (operator !== undefined) {
      // The object of an operator stands before those of its inputs, and a scan has none.
      if (nameOf(attributes, "Schema") === schema) {
        const table = nameOf(attributes, "Table");
        scans.push({ operator, table, index: nameOf(attributes, "Index"), statement });
      }
      operator = undefined;
    }
  }
  return scans.map((scan) => ({ ...scan, statement: shortened(scan.statement) }));
}

/** Where the files say that they read a whole index, and why that is small or wanted. */
export const intendedScans: readonly {
  readonly procedures: readonly string[] | "all";
  /** `any`, or a name. */
  readonly index: string;
  readonly reason: string;
}[] = [
  { procedures: ["CheckInvariants"], index: "any", reason: "it looks at everything" },
  { procedures: "all", index: "IX_TaskExecution_Open", reason: "only open executions are in it" },
  {
    procedures: ["ListDefinitions", "Sweep", "Purge"],
    index: "PK_TaskDefinition",
    reason: "definitions are few",
  },
  {
    procedures: ["ListDefinitions", "ListTasks"],
    index: "PK_GroupWaiting",
    reason: "one pass over what waits, for people, capped",
  },
  {
    procedures: ["ListExecutions"],
    index: "PK_TaskExecution",
    reason: "the newest first, as many as are asked for",
  },
  {
    procedures: ["Sweep", "Purge"],
    index: "PK_TaskExecution",
    reason: "the oldest first, and not many of them",
  },
];

/** Does the procedure's own text say that it reads that index from end to end? */
export function isIntended(procedure: string, scan: Scan): boolean {
  return intendedScans.some(
    ({ procedures, index }) =>
      (procedures === "all" || procedures.includes(procedure)) &&
      (index === "any" || index === scan.index),
  );
}

function attributeOf(attributes: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  return value
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 16)),
    )
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}

/** Names stand in brackets. */
function nameOf(attributes: string, name: string): string {
  return attributeOf(attributes, name)
    .replace(/^\[(.*)\]$/, "$1")
    .replaceAll("]]", "]");
}

function shortened(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return flat.length <= statementLengthMax ? flat : `${flat.slice(0, statementLengthMax)} ..`;
}
