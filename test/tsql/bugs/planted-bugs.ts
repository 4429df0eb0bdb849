import type { PlantedBug } from "./planted-bug";
import { watermarkBugs } from "./watermark-bugs";

/* Faults of the shipped T-SQL as edits of its text. The named case finds each; an edit that fits no text is a fault of this list. */

const settle = "procedures/_SettleTokens.sql";
const fit = "procedures/_FitTokens.sql";
const deadHolders = "procedures/_DeadHolders.sql";
const work = "procedures/Work.sql";
const handOver = "procedures/_HandOver.sql";
const promotion = "procedures/_Promote.sql";
const reclaim = "procedures/ReclaimExpired.sql";
const enqueue = "procedures/EnqueueTasks.sql";

const claimHints =
  "WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK, INDEX (PK_Ready)) -- keep them, skip others', in key order";

const tokenBugs: readonly PlantedBug[] = [
  {
    name: "a start doesn't lock the definition's row before it looks for a repeat",
    file: "procedures/StartExecution.sql",
    edits: [
      { from: "WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- one key", to: "WITH (ROWLOCK) -- one key" },
    ],
    foundBy: "start-x-same-start",
    engine: "azure",
    finding: /error 50409/,
  },
  {
    name: "tokens are read before the row is locked",
    file: settle,
    edits: [
      {
        from: "WITH (ROWLOCK, XLOCK, HOLDLOCK) -- one key",
        to: "WITH (ROWLOCK) -- one key",
      },
      {
        from: "WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the row as it is now, not a version of it",
        to: "WITH (ROWLOCK)",
      },
    ],
    foundBy: "acquire-x-acquire",
    engine: "azure",
    finding: /no waiting: caller \d waits .* on Token/, // rows of tokens are a guard of their own
  },
  {
    name: "a grant makes a token where none is free",
    file: settle,
    edits: [
      {
        from: "SET @vCount = CASE WHEN @Want - @oOwn < @oLimit - @oHeld THEN @Want - @oOwn ELSE @oLimit - @oHeld END;",
        to: "SET @vCount = @Want - @oOwn;",
      },
      { from: " AND @oHeld < @oLimit\n", to: "\n" },
      {
        from: "      WITH NextFree AS (",
        to: `      IF NOT EXISTS (SELECT 1 FROM Taskgate.Token AS t WITH (INDEX (PK_Token)) WHERE t.TaskDefinitionId = @TaskDefinitionId AND t.HeldBy = 0)
        INSERT INTO Taskgate.Token (TaskDefinitionId, HeldBy, Ord, TokenId, LastHeldBy) VALUES (@TaskDefinitionId, 0, 99, NEWID(), 0);
      WITH NextFree AS (`,
      },
    ],
    foundBy: "start-x-start",
    engine: "azure",
    finding: /limit: a grant makes 2 of 1/,
  },
  {
    name: "a definition has one token more than its limit",
    file: settle,
    edits: [
      {
        from: "    -- 1. Give back",
        to: "    SET @oLimit = @oLimit + 1;\n    -- 1. Give back",
      },
    ],
    foundBy: "acquire-x-acquire",
    engine: "azure",
    finding: /invariants .*4 tokens, limit 3/,
  },
  {
    name: "an asker declares a holder dead without testing its lease again",
    file: deadHolders,
    edits: [
      {
        from: "WHERE h.IsExpired = 1 AND e.State = 1 AND e.LeaseUntil < @Now",
        to: "WHERE h.IsExpired = 1 AND e.State = 1",
      },
    ],
    foundBy: "start-x-late-heartbeat",
    engine: "azure",
    finding: /somebody whose lease was renewed/,
  },
  {
    name: "a dead holder's return frees its successor's token",
    file: settle,
    edits: [
      {
        from: "AND t.HeldBy = @TaskExecutionId ORDER BY t.Ord DESC)",
        to: "AND t.HeldBy > 0 ORDER BY t.Ord DESC)",
      },
    ],
    foundBy: "surplus-x-surplus",
    engine: "azure",
    finding: /invariants|tokens are held/,
  },
  {
    name: "tokens that are given back stay in the count of held ones",
    file: settle,
    edits: [{ from: "@oOwn = @Keep, @oHeld = @oHeld - @@ROWCOUNT;", to: "@oOwn = @Keep;" }],
    foundBy: "release-x-release",
    engine: "azure",
    finding: /invariants/,
  },
  {
    name: "a token that goes back above a lowered limit stays as a free one",
    file: settle,
    edits: [{ from: "OR @vHeld > @oLimit OR @oLimit", to: "OR @oLimit" }],
    foundBy: "release-x-lower-below-what-is-held",
    engine: "azure",
    finding: /invariants/,
  },
  {
    name: "free tokens that a lowered limit makes too many stay",
    file: fit,
    edits: [{ from: "IF @vCount > 0\n", to: "IF @vCount > 1000\n" }],
    foundBy: "acquire-x-lower",
    engine: "azure",
    finding: /invariants/,
  },
  {
    name: "a heartbeat waits for rows instead of stepping over them",
    file: "procedures/Heartbeat.sql",
    edits: [
      {
        from: "WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait; state tested under the lock",
        to: "WITH (ROWLOCK, UPDLOCK)",
      },
    ],
    foundBy: "heartbeat-x-work",
    engine: "azure",
    finding: /no waiting: caller 1 waits/,
  },
  {
    name: "a new definition's name isn't kept until it is there",
    file: "procedures/RegisterDefinition.sql",
    edits: [
      {
        from: "WITH (ROWLOCK, UPDLOCK, HOLDLOCK, INDEX (UQ_TaskDefinition_Name)) -- the entry, else its place",
        to: "WITH (ROWLOCK, INDEX (UQ_TaskDefinition_Name))",
      },
    ],
    foundBy: "register-x-register-of-a-new-name",
    engine: "azure",
    finding: /error 2627/,
  },
  {
    name: "an older build isn't looked for again under the lock",
    file: "procedures/RegisterDefinition.sql",
    edits: [
      {
        from: "WHEN d.Build > @Build THEN N'outdated'\n",
        to: "\n",
      },
    ],
    foundBy: "register-x-register-of-two-builds",
    engine: "azure",
    finding: /the older build's settings stay/,
  },
];

const claimBugs: readonly PlantedBug[] = [
  {
    name: "a claim without READPAST waits for another claim",
    file: work,
    edits: [{ from: claimHints, to: "WITH (ROWLOCK, UPDLOCK, FORCESEEK)" }],
    foundBy: "claim-x-claim",
    engine: "azure",
    finding: /no waiting: caller \d waits.* on Ready/,
  },
  {
    name: "a claim at SERIALIZABLE",
    file: work,
    edits: [
      {
        from: "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;",
        to: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;",
      },
    ],
    foundBy: "claim-x-claim",
    engine: "azure",
    finding: /error 650/,
  },
  {
    name: "a claim without FORCESEEK: its plan is anybody's guess",
    file: work,
    edits: [{ from: claimHints, to: "WITH (ROWLOCK, UPDLOCK, READPAST)" }],
    foundBy: "claim-x-claim",
    engine: "azure",
    finding: /expected a whole unique key, or a named index/,
  },
  {
    name: "a worker's call doesn't lock its execution's row",
    file: work,
    edits: [
      {
        from: "WITH (ROWLOCK, UPDLOCK) -- the row as it is now, kept to the end",
        to: "WITH (ROWLOCK)",
      },
    ],
    foundBy: "claim-x-same-claim",
    engine: "azure",
    finding: /tasks are/,
  },
  {
    name: "a completion doesn't test the fence",
    file: "procedures/CompleteTask.sql",
    edits: [
      {
        from: "WHERE c.TaskExecutionId = @TaskExecutionId AND c.Fence = @Fence AND c.TaskId = @TaskId;",
        to: "WHERE c.TaskExecutionId = @TaskExecutionId AND c.TaskId = @TaskId;",
      },
    ],
    foundBy: "stale-complete-x-work",
    engine: "azure",
    finding: /the answer is done|invariants/,
  },
  {
    name: "a worker's call doesn't test the fence of what is done",
    file: work,
    edits: [
      {
        from: "INNER JOIN @vHeld AS h ON h.TaskId = l.TaskId AND h.Fence = l.Fence",
        to: "INNER JOIN @vHeld AS h ON h.TaskId = l.TaskId",
      },
    ],
    foundBy: "stale-complete-x-work",
    engine: "azure",
    finding: /the completion was accepted/,
  },
  {
    name: "a completion doesn't lock its execution's row",
    file: "procedures/CompleteTask.sql",
    edits: [
      {
        from: "WITH (ROWLOCK, UPDLOCK) -- the row as it is now, kept to the end",
        to: "WITH (ROWLOCK)",
      },
    ],
    foundBy: "complete-x-same-complete",
    engine: "azure",
    finding: /exactly one place|a finished task|nothing lost|no waiting|error|the answers are/,
  },
  {
    name: "a worker's call reads its definition while it holds its execution",
    file: work,
    edits: [
      {
        from: "        IF @CallNumber < @vCallNumber",
        to: `        SELECT @vAnswerLeaseMs = d.LeaseMs
        FROM Taskgate.TaskDefinition AS d WHERE d.TaskDefinitionId = @vDefinition;
        IF @CallNumber < @vCallNumber`,
      },
    ],
    foundBy: "acquire-x-work",
    engine: "locking",
    finding: /in a circle/,
  },
  {
    name: "the end of an execution gives tasks back without asking whether they are cancelled",
    file: "procedures/FinishExecution.sql",
    edits: [{ from: "FROM @vTask AS t WHERE t.CancelRequested = 0;", to: "FROM @vTask AS t;" }],
    foundBy: "finish-x-cancel",
    engine: "azure",
    finding: /invariants/,
  },
];

const groupBugs: readonly PlantedBug[] = [
  {
    name: "a hand-over doesn't lock the group's row",
    file: handOver,
    edits: [
      {
        from: "WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskGroup)) -- the row itself, as it is now",
        to: "WITH (ROWLOCK, INDEX (PK_TaskGroup))",
      },
    ],
    foundBy: "enqueue-x-hand-over",
    engine: "azure",
    finding: /invariants|tasks are|error/,
  },
  {
    name: "an enqueue doesn't lock the group's row",
    file: enqueue,
    edits: [
      {
        from: "WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskGroup)) -- lock, then look: kept to the end",
        to: "WITH (ROWLOCK, INDEX (PK_TaskGroup))",
      },
    ],
    foundBy: "enqueue-x-hand-over",
    engine: "azure",
    finding: /invariants|tasks are|error/,
  },
  {
    name: "groups are handed over from the highest on",
    file: handOver,
    edits: [
      {
        from: "ROW_NUMBER() OVER (ORDER BY x.GroupId)",
        to: "ROW_NUMBER() OVER (ORDER BY x.GroupId DESC)",
      },
    ],
    foundBy: "ends-of-two-groups-x-enqueue-of-both",
    engine: "azure",
    finding: /in a circle/,
  },
  {
    name: "two promote one definition's tasks at a time, and a later task of a strict group comes first",
    file: promotion,
    edits: [{ from: "  IF @vMissed <> N'[]' RETURN;\n", to: "" }],
    foundBy: "promote-x-strict-enqueue-and-promote",
    engine: "azure",
    finding: /tasks are 2, expected 1/,
  },
  {
    name: "a strict group's task overtakes one that is due and not promoted yet",
    file: enqueue,
    edits: [{ from: "WHERE v.Strict = 1)\n", to: "WHERE v.Strict = 2)\n" }],
    foundBy: "promote-x-strict-enqueue-and-promote",
    engine: "azure",
    finding: /tasks are 2, expected 1|waits.*APP Taskgate:group:1:g/,
  },
  {
    name: "promotion waits for a group",
    file: promotion,
    edits: [
      {
        from: "READPAST, INDEX (PK_TaskGroup)) -- the row itself; skip, don't wait",
        to: "INDEX (PK_TaskGroup))",
      },
    ],
    foundBy: "promote-x-hand-over",
    engine: "azure",
    finding: /no waiting: caller 1 waits.* on TaskGroup/,
  },
  {
    name: "promotion waits for whoever makes a group, while it holds another",
    file: promotion,
    edits: [
      {
        from: "@Keys = @vLock, @Waits = 0,",
        to: "@Keys = @vLock, @Waits = 1,",
      },
    ],
    foundBy: "work-with-promotion-x-enqueue-of-groups",
    engine: "azure",
    finding: /in a circle/,
  },
  {
    name: "promotion waits for a task that is being cancelled",
    file: promotion,
    edits: [
      {
        from: "WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK) -- keep them, skip others', in key order",
        to: "WITH (ROWLOCK, UPDLOCK, FORCESEEK)",
      },
    ],
    foundBy: "cancel-x-promote",
    engine: "azure",
    finding: /no waiting: caller \d waits.* on Scheduled/,
  },
  {
    name: "new groups are made without their latch",
    file: enqueue,
    edits: [
      {
        from: "v.Scope, v.GroupKey) AS n WHERE v.GroupId IS NULL",
        to: "v.Scope, v.GroupKey) AS n WHERE 1 = 0",
      },
    ],
    foundBy: "enqueue-x-enqueue-of-a-new-group",
    engine: "azure",
    finding: /error 2627|no waiting/,
  },
];

const lost = /a group that a row names exists|a task names its group|error 50499/;

const removalBugs: readonly PlantedBug[] = [
  {
    name: "a purge doesn't look at slots again under the group's lock",
    file: "procedures/_PurgeGroups.sql",
    edits: [
      {
        from: "FROM Taskgate.GroupSlot AS x WITH (FORCESEEK) WHERE x.GroupId = m.GroupId)",
        to: "FROM Taskgate.GroupSlot AS x WITH (FORCESEEK) WHERE x.GroupId = m.GroupId AND 1 = 0)",
      },
    ],
    foundBy: "purge-of-groups-x-enqueue",
    engine: "azure",
    finding: lost,
  },
  {
    name: "a purge doesn't look at the archive again under the group's lock",
    file: "procedures/_PurgeGroups.sql",
    edits: [{ from: "a.GroupId = m.GroupId)", to: "a.GroupId = m.GroupId AND 1 = 0)" }],
    foundBy: "purge-of-groups-x-enqueue-and-cancel",
    engine: "azure",
    finding: lost,
  },
  {
    name: "an enqueue fills a group that has been removed meanwhile",
    file: enqueue,
    edits: [
      {
        from: "t.GroupId IS NOT NULL AND NOT EXISTS (SELECT 1 FROM @vGate",
        to: "1 = 0 AND NOT EXISTS (SELECT 1 FROM @vGate",
      },
    ],
    foundBy: "purge-of-groups-x-enqueue",
    engine: "azure",
    finding: lost,
  },
  {
    name: "promotion names the group of a task that stays",
    file: "procedures/_Promote.sql",
    edits: [
      {
        from: "x.PendingGroupKey IS NOT NULL AND x.Place > 0",
        to: "x.PendingGroupKey IS NOT NULL AND x.GroupId IS NOT NULL",
      },
    ],
    foundBy: "purge-of-groups-x-promote",
    engine: "azure",
    finding: lost,
  },
  {
    name: "a retry outside its group still names it",
    file: "procedures/FailTasks.sql",
    edits: [
      {
        from: "ON t.TaskId = r.TaskId -- ours already; outside a group it has its key only",
        to: "ON t.TaskId = r.TaskId AND 1 = 0 -- ours already",
      },
    ],
    foundBy: "purge-of-groups-x-fail",
    engine: "azure",
    finding: lost,
  },
];

const otherBugs: readonly PlantedBug[] = [
  {
    name: "dedupe keys are taken without their latch",
    file: enqueue,
    edits: [
      {
        from: "Taskgate._KeyLockOf(N'dedupe', @vDefinition, k.DedupeKey) AS n",
        to: "Taskgate._KeyLockOf(N'dedupe', @vDefinition, k.DedupeKey) AS n WHERE 1 = 0",
      },
    ],
    foundBy: "enqueue-x-same-key",
    engine: "azure",
    finding: /error 2627|no waiting/,
  },
  {
    name: "an operation's answer is looked for before its latch",
    file: "procedures/_EnqueuePlain.sql",
    edits: [
      {
        from: "CONVERT(nvarchar(36), @OperationId)) AS n;",
        to: "CONVERT(nvarchar(36), @OperationId)) AS n WHERE 1 = 0;",
      },
    ],
    foundBy: "enqueue-x-same-operation",
    engine: "azure",
    finding: /error 2627/,
  },
  {
    name: "a reclaim doesn't test the lease again",
    file: reclaim,
    edits: [
      {
        from: "WHERE x.TaskExecutionId = @vExecution AND x.State IN (1, 3) AND (x.State = 3 OR x.LeaseUntil < @vNow);",
        to: "WHERE x.TaskExecutionId = @vExecution AND x.State IN (1, 3);",
      },
    ],
    foundBy: "heartbeat-x-reclaim",
    engine: "azure",
    finding: /told renewed, and was reclaimed/,
  },
  {
    name: "a reclaim doesn't test the state again",
    file: reclaim,
    edits: [
      {
        from: "WHERE x.TaskExecutionId = @vExecution AND x.State IN (1, 3) AND (x.State = 3 OR x.LeaseUntil < @vNow);",
        to: "WHERE x.TaskExecutionId = @vExecution;",
      },
    ],
    foundBy: "finish-x-reclaim",
    engine: "azure",
    finding: /an ended stay was reclaimed/,
  },
  {
    name: "a reclaim waits for a worker's row",
    file: reclaim,
    edits: [
      {
        from: "WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_TaskExecution)) -- by key, tested again; skip",
        to: "WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskExecution))",
      },
    ],
    foundBy: "complete-x-reclaim",
    engine: "azure",
    finding: /no waiting: caller 2 waits/,
  },
];

/** A look at the id sees no row that isn't committed; the insert of an equal key then waits for that one, and fails. */
const operationIdBugs: readonly PlantedBug[] = [
  ...(
    [
      ["SetLimit", "set-limit", "lock, then look; no row is held meanwhile"],
      ["SetSharedLimit", "set-shared-limit", "lock, then look; no row is held meanwhile"],
      ["SetWatermark", "set-watermark", "lock, then look, as an enqueue of that id does"],
    ] as const
  ).map(([procedure, name, why]): PlantedBug => ({
    name: `${procedure} looks at its operation id without a lock on it`,
    file: `procedures/${procedure}.sql`,
    edits: [
      {
        from: `EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- ${why}`,
        to: "",
      },
    ],
    foundBy: `${name}-x-enqueue-of-the-same-operation-in-a-user-transaction`,
    engine: "azure",
    finding: /no waiting: caller \d waits as the case doesn't permit: \w+ on Operation/,
  })),
  {
    name: "a start tells of a key when another definition's start has its id",
    file: "procedures/StartExecution.sql",
    edits: [{ from: "IF ERROR_NUMBER() = 2627", to: "IF ERROR_NUMBER() = 0" }],
    foundBy: "start-x-start-of-another-definition-with-the-same-operation",
    engine: "azure",
    finding: /error 2627/,
  },
];

export const plantedBugs: readonly PlantedBug[] = [
  ...tokenBugs,
  ...operationIdBugs,
  ...claimBugs,
  ...groupBugs,
  ...removalBugs,
  ...otherBugs,
  ...watermarkBugs,
];
