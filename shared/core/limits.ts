/**
 * Every upper bound of the product, once, with its reason. Twice in SQL where SQL must hold it by itself;
 * a static test compares.
 */
export const limits = {
  /** Ids in one call of an operator: below lock escalation (5,000). */
  idsMax: 1_000,
  /** Characters of names, kinds, group and dedupe keys: fits an index key in both databases. */
  nameLengthMax: 200,
  /** Characters of an app's address as JSON. */
  appAddressLengthMax: 2_000,
  /** Versions of a kind's payload: each older one is a name that workers know. */
  kindVersionMax: 20,
  /** Definitions in one registration of an app: as many as a sweep looks after. */
  appDefinitionsMax: 1_000,
  /** Tokens of one definition: the token string stays a few pages long. */
  tokensMax: 1_000,
  /** Executions in one heartbeat; more are cut by the worker. */
  heartbeatExecutionsMax: 1_000,
  /** Tasks that one execution claims: its counts are 32 bits wide, and a resident worker that is never idle goes on for months. */
  executionTasksMax: 1_000_000_000,
  /** Tasks one `work` call may claim: below lock escalation (5,000) and a readable answer. */
  claimMax: 1_000,
  /** Tasks per enqueue call; larger input is cut by the client. */
  enqueueTasksMax: 10_000,
  /** Bytes per enqueue call. */
  enqueueBytesMax: 8 * 1024 * 1024,
  /** Bytes of an HTTP request with one task: a payload, its other members and the quotes. */
  httpTaskBytesMax: 72 * 1024,
  /** Bytes of an HTTP request with a list of tasks: parsed in well under 200 ms. */
  httpBulkBytesMax: 2 * 1024 * 1024,
  /** Tasks and bytes of one slice of a stream of tasks: an enqueue of a few milliseconds, and the loss by one bad line. */
  httpSliceTasksMax: 500,
  httpSliceBytesMax: 1024 * 1024,
  /** Lines of a stream of tasks, blank ones counted. */
  httpLinesMax: 1_000_000,
  /** Tasks and bytes of one call of `taskgate enqueue --from`: an enqueue of some milliseconds, and the loss by one bad line. */
  fileSliceTasksMax: 1_000,
  fileSliceBytesMax: 2 * 1024 * 1024,
  /** Bytes of one line or record there: a payload whose characters are all escaped has six times its bytes. */
  fileLineBytesMax: 512 * 1024,
  /** Bytes of an operator's HTTP request: names, a number and a reason. */
  httpOperatorBytesMax: 16 * 1024,
  /** Bytes of an operator's HTTP request with ids: `idsMax` of 19 digits, with quotes, commas and a reason. */
  httpIdsBytesMax: 40 * 1024,
  /** Levels of a payload: SQL Server reads JSON of at most 128. */
  payloadDepthMax: 100,
  /** Levels of JSON from outside: a payload's, and what may be around it: the body, its list, a task; an envelope and its event. */
  jsonDepthMax: 105,
  /** Values in JSON from outside, objects and arrays counted: 10,000 tasks with 20 members each. */
  jsonValuesMax: 200_000,
  /** Tasks that a search in one state looks at before it says where it stopped. */
  lookMax: 5_000,
  /** A search by a member of the payload looks at no task behind so many bytes of payloads. */
  searchedBytesMax: 4 * 1024 * 1024,
  /** Problems of one input that are listed; the rest is counted. */
  problemsMax: 20,
  /** Near names that are looked for in one input: each search compares with every candidate. */
  nearSearchesMax: 50,
  /** UTF-8 bytes of a payload, result or checkpoint: larger data goes by reference. */
  payloadBytesMax: 64 * 1024,
  /** Characters of an error that are kept. */
  errorLengthMax: 4_000,
  /** Characters of an operator's reason. */
  reasonLengthMax: 400,
  /** Characters of a progress text that are kept. */
  progressTextLengthMax: 400,
  /** Longest retry delay a handler may ask for. */
  retryInMsMax: 30 * 24 * 3_600_000,
  /**
   * How often a task may come back uncounted, over all reasons: each return takes its share, and with more than the sum the task is
   * dead. A checkpoint that differs from the one before starts anew at 1.
   */
  returnSharesMax: 1_000,
  /** unknownKind, newerPayload: 20 times, about an hour with their pauses; deadline: 20 times; stopped and storeTrouble: 100; sameCheckpoint: 1,000. */
  returnShares: {
    unknownKind: 50,
    newerPayload: 50,
    deadline: 50,
    stopped: 10,
    storeTrouble: 10,
    sameCheckpoint: 1,
  },
  /** Pauses between returns that wait for a newer build: doubled, half of each random. */
  returnPauseMs: { base: 5_000, cap: 300_000 },
  /** Farthest start of a task. */
  runInMsMax: 100 * 365 * 24 * 3_600_000,
  /** Schedules of one definition. */
  schedulesMax: 100,
  /** UTF-8 bytes of a schedule's payload: its instant is added. */
  schedulePayloadBytesMax: 64 * 1024 - 64,
  /** Characters of a time zone's name. */
  timeZoneLengthMax: 100,
  /** Missed instants that one call makes up for. */
  scheduleRunsMax: 100,
  /** How late an instant may be found before it counts as missed. */
  scheduleGraceMs: 5 * 60_000,
  /** Longest wait of a call for tokens in its process. */
  tokenWaitMsMax: 86_400_000,
  /** Shared limits of one definition: each costs a locked row per grant. */
  sharedLimitsMax: 8,
  /** Kinds of one definition that are registered with rules. */
  kindsMax: 1_000,
  /** Waves of a batch. */
  wavesMax: 1_000,
  /** Starts per period: a microsecond apart at least, with the shortest period. */
  rateCountMax: 1_000_000,
  ratePeriodMsMin: 1_000,
  ratePeriodMsMax: 24 * 3_600_000,
  priorityMin: -32_768,
  priorityMax: 32_767,
  /** How long PostgreSQL lets a transaction of ours wait for its client, which may have frozen. */
  transactionIdleMsMax: 30_000,
  leaseMsMin: 1_000,
  leaseMsMax: 24 * 3_600_000,
  /** Longest time-out of a kind, and the default of kinds that name none: every hang ends. */
  timeoutMsMax: 30 * 24 * 3_600_000,
  timeoutMsDefault: 24 * 3_600_000,
  /** The time that a handler may run after its time-out aborted its signal, before it counts as stuck. */
  timeoutGraceMs: 5_000,
  /** So many leases long a thread renews them while the event loop is blocked; then it counts as hung. */
  blockedLeasesMax: 10,
  /** The time in which other executions of a process claim nothing, while a task that must run alone waits for them to finish. */
  aloneWaitMs: 5_000,
  /** The time in which it is really alone: a task that ends its process mostly does so at once. */
  aloneRunMs: 30_000,
  /** After so many waits in vain it runs beside the others: nothing is put back for ever. */
  aloneTurnsMax: 5,
  /** How long it stays away after a wait in vain: the others have the process meanwhile. */
  aloneRetryMs: 15_000,
} as const;
