import type { PlantedBug } from "./planted-bug";

const file = "procedures/AdvanceWatermark.sql";

/** Makers of one watermark don't exclude each other. */
const unlocked = {
  from: "INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'watermark', @vDefinition, @vWatermark));",
  to: "",
};

/** Faults of the lock that guards a watermark. */
export const watermarkBugs: readonly PlantedBug[] = [
  {
    name: "a maker doesn't lock the key of a missing watermark",
    file,
    edits: [unlocked],
    foundBy: "advance-x-advance-from-nothing",
    engine: "azure",
    finding: /no waiting: .* on BlockWatermark/,
  },
  {
    name: "a maker doesn't lock a watermark before it looks at its version",
    file,
    edits: [
      unlocked,
      {
        from: "WITH (ROWLOCK, UPDLOCK) -- the holder of the key may write it",
        to: "WITH (ROWLOCK) --",
      },
    ],
    foundBy: "advance-x-advance",
    engine: "azure",
    finding: /no waiting: .* on BlockWatermark/,
  },
  {
    name: "a maker locks the place of a missing watermark, and so its neighbour",
    file,
    edits: [
      {
        from: "WITH (ROWLOCK, UPDLOCK) -- the holder of the key may write it",
        to: "WITH (ROWLOCK, UPDLOCK, HOLDLOCK) --",
      },
    ],
    foundBy: "advance-x-advance-of-a-neighbour",
    engine: "azure",
    finding: /no waiting: .* on BlockWatermark/,
  },
];
