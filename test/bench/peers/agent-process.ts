import type {
  CallName,
  Calls,
  Progress,
  SentAnswer,
  SentCall,
  Setup,
  SystemName,
} from "../peers-launcher/protocol.ts";
import { enqueueBulk, enqueueSingly, trickle } from "./enqueuing.ts";
import { endProfile, startProfile } from "./profile.ts";
import { cpuMs, nowMs, Recorder } from "./recorder.ts";
import type { OpenSystem, QueueSystem } from "./system.ts";

/* A process of `npm run bench:peers`: it hosts one of the systems and does what the launcher asks over IPC. */

type Answers = {
  readonly [Name in CallName]: (asked: Calls[Name]["asked"]) => Promise<Calls[Name]["answer"]>;
};

const openers: Readonly<Record<SystemName, () => Promise<{ openSystem: OpenSystem }>>> = {
  taskgate: () => import("./systems/taskgate.ts"),
  "graphile-worker": () => import("./systems/graphile-worker.ts"),
  "pg-boss": () => import("./systems/pg-boss.ts"),
  bullmq: () => import("./systems/bullmq.ts"),
  bare: () => import("./systems/bare.ts"),
  "bare-sql": () => import("./systems/bare-sql.ts"),
};

let opened: { readonly setup: Setup; readonly system: QueueSystem } | null = null;
const recorder = new Recorder();

function send(message: SentAnswer | Progress): void {
  process.send?.(message);
}

function current(): { readonly setup: Setup; readonly system: QueueSystem } {
  if (opened === null) throw new Error("`open` comes first");
  return opened;
}

const answers: Answers = {
  open: async ({ setup }) => {
    const { openSystem } = await openers[setup.system]();
    opened = { setup, system: await openSystem(setup) };
    return { settings: opened.system.settings };
  },
  prepare: async () => {
    await current().system.prepare();
    return {};
  },
  enqueueBulk: (asked) => enqueueBulk(current().system, asked),
  enqueueSingly: ({ count }) => enqueueSingly(current().system, count, current().setup.callers),
  trickle: async ({ count }) => {
    await trickle(current().system, count);
    return {};
  },
  work: async () => {
    const { setup, system } = current();
    recorder.tell((handled) => {
      send({ progress: { handled, atMs: nowMs(), cpuMs: cpuMs() } });
    });
    await system.work(recorder.handler(setup));
    return {};
  },
  unfinished: async () => ({ count: await current().system.unfinished() }),
  seen: async () => recorder.seen(),
  startProfile: async () => {
    await startProfile();
    return {};
  },
  endProfile: () => endProfile(),
  close: async () => {
    await opened?.system.close();
    return {};
  },
};

/** The launcher sends calls of `Calls` only. */
async function answer({ id, name, asked }: SentCall): Promise<void> {
  const call = answers[name] as (given: object) => Promise<object>;
  try {
    send({ id, answer: await call(asked) });
  } catch (error) {
    send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
  if (name === "close") process.disconnect();
}

process.on("message", (message) => void answer(message as SentCall));
// The launcher has gone, or wants nothing more: what a system leaves open would keep the process alive.
process.on("disconnect", () => process.exit(0));
