/** What RegisterDefinition takes beside a name: a definition that sets nothing apart. */
export const plainDefinition = {
  Build: 1,
  SettingsHash: "h",
  RegisteredBy: "test",
  Limit: 3,
  LeaseMs: 60_000,
  RetryAttempts: 2,
  LostMax: 2,
  RetryBaseMs: 1_000,
  RetryCapMs: 300_000,
  PrefetchMax: 1,
  GroupSlots: 1,
  GroupStrict: 0,
  RetainDoneMs: 604_800_000,
  RetainDeadMs: 2_592_000_000,
};
