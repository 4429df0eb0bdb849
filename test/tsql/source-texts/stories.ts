import { enqueue, plainTasks, register, start, textOf, work } from "../cases/calls";
import type { NewTask } from "../cases/calls";
import { prepareWorld } from "../cases/scenario";
import { cut, fromScript, goOn } from "./play";
import type { Scene } from "./play";
import { edited, inHouseForm, textSql } from "./texts";

/** What one source text tells about locks, as scenes that can be played. */
export interface Story {
  readonly name: string;
  readonly question: string;
  readonly scenes: readonly Scene[];
}

// ---- 000

const tokens = textSql("text-000");

function readTokens(level: string): string {
  return `SET TRANSACTION ISOLATION LEVEL ${level}; BEGIN TRANSACTION; SELECT ExecutionTokens FROM dbo.TaskDefinition WHERE TaskDefinitionId = 1;`;
}

function writeTokens(execution: number): string {
  return `UPDATE dbo.TaskDefinition SET ExecutionTokens = N'I:ccc7b851-2404-4b2b-84e3-6898399a976d,S:0,G:${String(execution)},I:747ebc4e-add4-4d95-9022-0d7a544af813,S:1,G:0' WHERE TaskDefinitionId = 1;`;
}

const acquire = (definition: number, execution: number): string =>
  `EXEC dbo.AcquireToken @TaskDefinitionId = ${String(definition)}, @TaskExecutionId = ${String(execution)};`;

const showTokens = "SELECT ExecutionTokens FROM dbo.TaskDefinition WHERE TaskDefinitionId = 1;";

const text000: Story = {
  name: "text-000",
  question: "Why does taking a token begin with a write?",
  scenes: [
    {
      title:
        "write, read, write: whoever comes second waits, and then sees what the first one left",
      prepare: fromScript(tokens),
      acts: [
        {
          who: "execution 153532",
          sql: `BEGIN TRANSACTION; ${acquire(1, 153532)}`,
          note: "takes a token, hasn't committed",
        },
        {
          who: "execution 153533",
          sql: acquire(1, 153533),
          note: "waits before it has read anything",
        },
        { who: "execution 153534", sql: acquire(2, 153534), note: "another job's row: at once" },
        { who: "execution 153532", sql: "COMMIT;" },
        { who: "execution 153532", sql: showTokens },
      ],
    },
    {
      title: "read first: both read the same free token, and one grant is lost",
      prepare: fromScript(tokens),
      acts: [
        { who: "execution 1", sql: readTokens("READ COMMITTED") },
        { who: "execution 2", sql: readTokens("READ COMMITTED") },
        { who: "execution 1", sql: `${writeTokens(1)} COMMIT;` },
        {
          who: "execution 2",
          sql: `${writeTokens(2)} COMMIT;`,
          note: "writes over the first one's grant",
        },
        { who: "execution 1", sql: showTokens },
      ],
    },
    {
      title: "read first at SERIALIZABLE: both keep what they have read, and neither can write",
      prepare: fromScript(tokens),
      acts: [
        { who: "execution 1", sql: readTokens("SERIALIZABLE") },
        { who: "execution 2", sql: readTokens("SERIALIZABLE") },
        { who: "execution 1", sql: `${writeTokens(1)} COMMIT;` },
        { who: "execution 2", sql: `${writeTokens(2)} COMMIT;`, note: "closes the circle" },
      ],
    },
    {
      title: "found by name instead of by key: the lock covers the gap, and another job waits",
      prepare: fromScript(tokens),
      acts: [
        {
          who: "import",
          sql: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRANSACTION; UPDATE d SET HoldLockTaskExecutionId = 1 FROM dbo.TaskDefinition AS d WITH (INDEX (IX_TaskDefinition_Name)) WHERE d.TaskName = N'import';",
        },
        {
          who: "resize",
          sql: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRANSACTION; UPDATE d SET HoldLockTaskExecutionId = 2 FROM dbo.TaskDefinition AS d WITH (INDEX (IX_TaskDefinition_Name)) WHERE d.TaskName = N'resize';",
          note: "a job that has nothing to do with the first",
        },
        { who: "import", sql: "COMMIT;" },
        { who: "resize", sql: "COMMIT;" },
      ],
    },
  ],
};

// ---- 001

const jobs = textSql("text-001");
/** The statement by which the text restricts jobs 1, 5, 9 and 3, 7, 11. */
const restricted = `${jobs}
UPDATE w SET ConcurrencyGroupName = CONVERT(NVARCHAR(2), CASE WHEN w.WorkItemId % 2 = 0 THEN NULL ELSE w.WorkItemId % 4 END)
FROM dbo.BackgroundJobWork AS w WITH (INDEX (PK_BackgroundJobWork)) WHERE w.Status < 100;
`;

function twoWindows(procedure: string, count: number): Scene["acts"] {
  const take = `BEGIN TRANSACTION; EXEC dbo.${procedure} @Count = ${String(count)};`;
  return [
    { who: "spid 60", sql: take, note: "the first window leaves its transaction open" },
    { who: "spid 63", sql: take, note: "the second window" },
    { who: "spid 60", sql: "COMMIT;" },
    { who: "spid 63", sql: "COMMIT;" },
  ];
}

/** The text's twelve jobs as tasks of this project, in the same groups or in none, and two agents. */
function asTasks(isGrouped: boolean): Scene["prepare"] {
  const tasks = plainTasks(12).map((_task, place): NewTask => {
    const id = place + 1;
    return isGrouped && id % 2 === 1 ? { group: String(id % 4) } : {};
  });
  return (options) => {
    const setup = [register({ limit: 12 }), enqueue(tasks), start(1, 6), start(2, 6)];
    return prepareWorld(
      { name: "text 001", setup },
      { engine: "locking", options, checksWaits: true },
    ).world;
  };
}

/** Each agent takes six, with the first one's claim still uncommitted when the second one comes. */
function twoAgents(): Scene["acts"] {
  const claim = (execution: number): string => textOf(work({ execution, call: 1, want: 6 }));
  return [
    { who: "agent 1", sql: claim(1), note: "stopped before its commit", stopsBefore: "commit" },
    { who: "agent 2", sql: claim(2) },
    { who: "agent 1", sql: goOn },
  ];
}

const text001: Story = {
  name: "text-001",
  question: "Why is the second window locked out, though the two sets of jobs are disjoint?",
  scenes: [
    {
      title: "without restrictions: two windows, two sets, nobody waits",
      prepare: fromScript(jobs),
      acts: twoWindows("TakeJobs", 6),
    },
    {
      title: "with restrictions: the second window waits for a key of the restriction's index",
      prepare: fromScript(restricted),
      acts: twoWindows("TakeJobs", 6),
    },
    {
      title: "the same in one statement: the same wait, and then nothing is taken",
      prepare: fromScript(restricted),
      acts: twoWindows("TakeJobsInOneStatement", 3),
    },
    {
      title:
        "the cure, as shipped: only a group's first task is ready, so no claim tries a key that could be taken",
      prepare: asTasks(true),
      acts: twoAgents(),
    },
    {
      title: "as shipped, without groups",
      prepare: asTasks(false),
      acts: twoAgents(),
    },
  ],
};

// ---- 002

const queue = textSql("text-002");
export const question = inHouseForm(textSql("text-002-question"));
export const answer = inHouseForm(textSql("text-002-answer"));
/** What the question would be without its hints. */
export const unhinted = edited(question, { from: "with (rowlock, updlock, readpast)", to: "" });

const text002: Story = {
  name: "text-002",
  question: "Can parallel requests ever get the same id?",
  scenes: [
    {
      title:
        "the answer's statement: one reference to the table, the second request steps over the first one's row",
      prepare: fromScript(queue),
      acts: [
        { who: "request 1", sql: `BEGIN TRANSACTION; ${answer}` },
        { who: "request 2", sql: answer },
        { who: "request 1", sql: "COMMIT;" },
      ],
    },
    {
      title: "the question's statement: two references to the table, more locks, the same outcome",
      prepare: fromScript(queue),
      acts: [
        { who: "request 1", sql: `BEGIN TRANSACTION; ${question}` },
        { who: "request 2", sql: question },
        { who: "request 1", sql: "COMMIT;" },
      ],
    },
    {
      title:
        "the question's statement without its hints: with row versions the second request takes the same job again",
      prepare: fromScript(queue),
      acts: [
        { who: "request 1", sql: `BEGIN TRANSACTION; ${unhinted}` },
        { who: "request 2", sql: unhinted },
        { who: "request 1", sql: "COMMIT;" },
      ],
    },
  ],
};

// ---- 003

const reader = `${textSql("text-003")}
EXEC dbo.ExecAsync N'SELECT 1 AS Worked;';
EXEC dbo.ExecAsync N'SELECT 2 AS Worked;';
EXEC dbo.ExecAsync N'SELECT 3 AS Worked;';
`;
const longTask = "BEGIN TRANSACTION; EXEC dbo.ReadOne;";

const text003: Story = {
  name: "text-003",
  question: "Is each task read by one worker only, and what does the open transaction cost?",
  scenes: [
    {
      title: "two readers: the second one steps over the first one's task",
      prepare: fromScript(reader),
      acts: [
        {
          who: "worker 1",
          sql: longTask,
          note: "an outer transaction stands for a task that takes long",
        },
        { who: "worker 2", sql: longTask },
        { who: "worker 1", sql: "COMMIT;" },
        { who: "worker 2", sql: "COMMIT;" },
      ],
    },
    {
      title: "the log of a task that runs can only be read dirty",
      prepare: fromScript(reader),
      acts: [
        { who: "worker 1", sql: longTask },
        {
          who: "watcher",
          sql: "SELECT LogID, TaskID FROM dbo.Logs WITH (NOLOCK);",
          note: "as in the text",
        },
        { who: "watcher", sql: "SELECT LogID, TaskID FROM dbo.Logs WITH (INDEX (PK_Logs));" },
        { who: "worker 1", sql: "COMMIT;" },
      ],
    },
    {
      title: "a worker that dies: its task is pending again at once, and its log is gone",
      prepare: fromScript(reader),
      acts: [
        { who: "worker 1", sql: longTask },
        { who: "worker 1", sql: cut },
        { who: "watcher", sql: "SELECT TaskID, Status FROM dbo.Tasks WITH (INDEX (PK_Tasks));" },
        { who: "watcher", sql: "SELECT LogID FROM dbo.Logs WITH (INDEX (PK_Logs));" },
      ],
    },
  ],
};

export const stories: readonly Story[] = [text000, text001, text002, text003];
