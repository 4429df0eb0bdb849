import type { EngineName } from "../tsql-server/engine/options";

/** What the model or the endpoint does, unseen on a server so far, with the script that would settle it. */
export interface UnverifiedRule {
  /** Of the table of lock rules (L1 ..), or D for the protocol between driver and server. */
  readonly rule: string;
  readonly question: string;
  /** What we do: the model, or for D the endpoint. */
  readonly model: string;
  /** Titles of the scripts whose outcome on a server is the answer: litmus tests, or open-questions.ts. */
  readonly scripts: readonly string[];
  /** Where the question arises; default: on all. Elsewhere the scripts are certain. */
  readonly engines?: readonly EngineName[];
  /** Where no script can tell: what would. */
  readonly otherwise?: string;
  /** A switch of the engine (engine/options.ts) that makes the other answer, with which safety is tested as well. */
  readonly switch?: string;
}

/** All of them; the internals' page on the simulation prints this list. */
export const unverifiedRules: readonly UnverifiedRule[] = [
  {
    rule: "L3",
    question:
      "Does a session that holds a lock and wants a stronger one stand before all that hold none?",
    model: "always",
    scripts: [
      "a session that holds a lock and wants a stronger one stands before those that hold none",
    ],
  },
  {
    rule: "L3",
    question: "With optimized locking, do those who wait for one row get it in order of arrival?",
    model: "yes",
    scripts: ["callers that wait for a row with UPDLOCK get it in order of arrival"],
    engines: ["azure"],
  },
  {
    rule: "L5",
    question:
      "Is the clustered key part of the resource that a key of an index that isn't unique is locked by?",
    model: "yes: equal keys are locked one by one",
    scripts: ["equal keys of an index that isn't unique are locked one by one"],
  },
  {
    rule: "L5",
    question: "Does an update that sets an indexed column to what it was lock the index's key?",
    model: "no: an index whose columns don't change is left alone",
    scripts: ["an update that sets an indexed column to what it was leaves the index alone"],
  },
  {
    rule: "L11",
    question: "Are all rows of an update found and locked before the first one is written?",
    model: "yes",
    scripts: ["rows are found and locked before the first one is written"],
    switch: "pipelinesWrites",
  },
  {
    rule: "L11",
    question: "Does an update of several rows change all rows first, and then index after index?",
    model: "yes, as a wide plan does",
    scripts: ["an update of several rows changes all rows before it looks after an index"],
    switch: "hasWideUpdates",
  },
  {
    rule: "L12",
    question: "Does a hinted lock stay on a row that the same operator rejects?",
    model: "yes",
    scripts: ["a hinted lock on a row that a test on another column rejects stays"],
    switch: "keepsRejected",
  },
  {
    rule: "L14",
    question: "Does an insert of an equal key wait for X, or ask for S first?",
    model: "it waits for X; nothing that can be seen from outside depends on it",
    scripts: [],
    otherwise: "request_mode of the waiting insert in sys.dm_tran_locks",
  },
  {
    rule: "L16",
    question: "Which error refuses READPAST on a plain read with READ_COMMITTED_SNAPSHOT?",
    model: "650",
    scripts: [
      "READPAST on a plain read with versions is refused; READCOMMITTEDLOCK beside it makes it work",
    ],
    engines: ["versioned", "azure"],
  },
  {
    rule: "L19",
    question: "With optimized locking, does a hinted U that the write turned into X stay?",
    model: "yes",
    scripts: ["a hinted lock on a row that is then changed stays, with optimised locking too"],
    engines: ["azure"],
  },
  {
    rule: "L19",
    question: "With optimized locking, is a new unique key waited for by way of its transaction?",
    model: "yes",
    scripts: ["a key whose holder has let go of it is met by way of the holder's transaction"],
    engines: ["azure"],
  },
  {
    rule: "L21",
    question:
      "With optimized locking, does READPAST step over a row whose key lock is gone but whose transaction lives?",
    model: "yes: such a row is taken as locked",
    scripts: [
      "READPAST steps over a locked row: the page's own example",
      "READPAST steps over new and deleted rows that aren't committed",
      "READPAST steps over the row behind an index, too",
      "READPAST works at REPEATABLE READ",
      "READPAST on the target of a write works with versions as well",
      "rows claimed by DELETE through a CTE come back when the claim is rolled back",
      "a probe that steps over locked rows says that there is none",
    ],
    engines: ["azure"],
    switch: "skipsLiveTransactions",
  },
  {
    rule: "L22",
    question: "Has the victim of a deadlock lost its locks when CATCH begins, or at ROLLBACK?",
    model: "when CATCH begins",
    scripts: ["the victim of a deadlock has lost its locks before it rolls back"],
  },
  {
    rule: "R",
    question: "Does a chain of one owner cover the types that a procedure declares variables of?",
    model: "no: who calls it needs EXECUTE on them",
    scripts: ["a variable of a table type inside a procedure needs EXECUTE on the type, too"],
  },
  {
    rule: "S",
    question: "Are a new seed and a restart undone with their transaction?",
    model: "yes; for the seed another project has seen it on SQL Server 2025",
    scripts: [
      "a new seed is rolled back with its transaction",
      "a restart is rolled back with its transaction",
    ],
  },
  {
    rule: "D",
    question:
      "Does a SELECT under NOCOUNT ON end with DONEINPROC, with its count marked as absent?",
    model: "yes",
    scripts: [],
    otherwise: "the driver's debug output of one procedure call",
  },
  {
    rule: "D",
    question: "Are BEGIN and COMMIT inside a procedure told to the client (ENVCHANGE 8 and 9)?",
    model: "yes",
    scripts: [],
    otherwise:
      "the driver's debug output; `inTransaction` of the connection after EXEC of a procedure that begins one",
  },
  {
    rule: "D",
    question:
      "Of which class is message 3621 (the statement has been terminated), and where does it come?",
    model: "it isn't sent",
    scripts: [],
    otherwise: "the driver's infoMessage event of an insert that fails",
  },
  {
    rule: "D",
    question: "Is the error bit set in the answer that an attention interrupts?",
    model:
      "no: that answer ends like all others, and the attention is heard in a message of its own",
    scripts: [],
    otherwise: "the driver's debug output of a cancelled WAITFOR",
  },
  {
    rule: "D",
    question:
      "Do return values have the declared type of the parameter or the sent one, and in which order do they come?",
    model: "the declared one, in the order of the parameters",
    scripts: [],
    otherwise: "the driver's returnValue events of a procedure with two outputs",
  },
  {
    rule: "D",
    question:
      "Does the level of a transaction request outlive its commit on a connection that isn't reset?",
    model: "yes",
    scripts: [],
    otherwise: "DBCC USEROPTIONS after a commit over the same connection",
  },
];
