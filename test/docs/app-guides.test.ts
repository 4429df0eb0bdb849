import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { InvocationContext } from "@azure/functions";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import * as openTelemetry from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { createClient, defineTask } from "../../shared";
import type { EventRoute, TaskClient, TaskKind } from "../../shared";
import { taskgate } from "../../shared/functions";
import type { Gate } from "../../shared/functions";
import type { AnyTaskKind } from "../../shared/worker/define/task-kind";
import type { TaskFacts } from "../../shared/ports/task-store";
import { factsOf, statusOf } from "../support/builders";
import { until } from "../support/gate";
import { urlAs } from "../support/roles";
import { openGuideScene } from "./guide-scene";
import type { GuideScene } from "./guide-scene";
import { loadBlock, testBlocksRan } from "./run-blocks";

/*
 * Goal: what the guides put into an app runs as pasted: routes, schedules, the names of several apps, an app's own telemetry. The
 * gates run in this process, on PostgreSQL and the emulator of the storage.
 */
const apps = "docs/guides/several-apps.md";
let scene: GuideScene;

beforeAll(async () => {
  scene = await openGuideScene();
}, 60_000);
afterAll(() => scene.close());

/** Works with that gate until `isOver` says so. */
async function workWith(gate: Gate, isOver: () => Promise<boolean>): Promise<void> {
  const end = new AbortController();
  const working = gate.work({ signal: end.signal });
  try {
    await until("the work is done", isOver, 20_000);
  } finally {
    end.abort();
    await working;
  }
}

const isDone = (name: string, count: number) => async (): Promise<boolean> =>
  (await statusOf(scene.store, name)).done === count;

async function doneTasks(name: string): Promise<Pick<TaskFacts, "payload" | "result">[]> {
  const { tasks } = await scene.store.listTasks({ name, state: "done", max: 10 });
  return Promise.all(tasks.map(({ task }) => factsOf(scene.store, task)));
}

const aWeekdaysInstant = /^(?:Mon|Tue|Wed|Thu|Fri),? 02:30$/;

function inBerlin(instant: Date | undefined): string {
  return new Intl.DateTimeFormat("en", {
    ...{ timeZone: "Europe/Berlin", weekday: "short", hour: "2-digit", minute: "2-digit" },
    hourCycle: "h23",
  }).format(instant);
}

test("csvRoute makes an import of a file that has landed, and takes no other file", async () => {
  const { importFile, csvRoute } = await loadBlock<{
    importFile: AnyTaskKind;
    csvRoute: EventRoute;
  }>(["docs/guides/events.md", "routes"]);
  const server = createServer((_, response) => response.end("a,b\n1,2\n"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/day.csv`;
  const gate = taskgate({ tasks: [importFile], events: [csvRoute] });
  const deliver = async (id: string, name: string): Promise<void> => {
    const event = { id, topic: "files", eventType: "Microsoft.Storage.BlobCreated" };
    const message = { ...event, subject: `/blobs/${name}`, data: { url } };
    await gate.ingest.handler(message, new InvocationContext({ functionName: "ingest" }));
  };
  try {
    await deliver("1", "day.csv");
    await deliver("1", "day.csv");
    await workWith(gate, isDone("import-file", 1));
    expect(await doneTasks("import-file")).toMatchObject([
      { payload: JSON.stringify({ url }), result: '{"bytes":8}' },
    ]);
    await deliver("2", "day.txt");
    const poison = scene.queue("taskgate-ingest-poison");
    const { peekedMessageItems } = await poison.peekMessages({ numberOfMessages: 32 });
    const refused = peekedMessageItems.map(({ messageText }) =>
      Buffer.from(messageText, "base64").toString("utf8"),
    );
    expect(refused).toEqual([expect.stringContaining("day.txt")]);
    expect(await statusOf(scene.store, "import-file")).toMatchObject({ done: 1, ready: 0 });
  } finally {
    await gate.end();
    server.closeAllConnections();
    server.close();
  }
});

test("the schedule of the page makes one task for its instant, and the next instant is a weekday's 02:30 in Berlin", async () => {
  const { report } = await loadBlock<{ report: AnyTaskKind }>([
    "docs/guides/schedules.md",
    "schedule",
  ]);
  const gate = taskgate({ tasks: [report] });
  try {
    await gate.sweep.handler({}, new InvocationContext());
    const [next] = (await scene.query("select next_run_at as at from taskgate.schedule")) as {
      at: Date;
    }[];
    expect(next?.at.getTime()).toBeGreaterThan(Date.now());
    expect(inBerlin(next?.at)).toMatch(aWeekdaysInstant);
    // An instant of the past, as if no sweep had run since: `once` makes a task for the last one that was missed.
    await scene.query("update taskgate.schedule set next_run_at = '2020-01-03T01:30:00Z'");
    await workWith(gate, isDone("report", 1));
    const made = await doneTasks("report");
    expect(made).toHaveLength(1);
    const { region, scheduledFor } = JSON.parse(made[0]?.payload ?? "") as Record<string, string>;
    expect([region, inBerlin(new Date(scheduledFor ?? ""))]).toEqual([
      "north",
      expect.stringMatching(aWeekdaysInstant),
    ]);
    expect(Date.now() - Date.parse(scheduledFor ?? "")).toBeLessThan(4 * 86_400_000);
  } finally {
    await gate.end();
  }
});

test("an app with a name owns its task: another app enqueues it by its kind, and may not run it", async () => {
  const { gate } = await loadBlock<{ gate: Gate }>([apps, "owner"]);
  const { bill } = await loadBlock<{
    bill: (client: TaskClient, invoice: string) => Promise<void>;
  }>([apps, "other-app"]);
  const sendInvoice = defineTask({ name: "send-invoice", run: async () => undefined });
  const shipping = taskgate({ app: "shipping", tasks: [sendInvoice] });
  const client = createClient({
    store: urlAs(scene.url, "worker"),
    hints: { storage: scene.azurite.connectionString },
  });
  const said = jest.spyOn(console, "log").mockReturnValue(undefined);
  try {
    await gate.sweep.handler({}, new InvocationContext());
    await bill(client, "2030-17");
    expect(said.mock.calls).toEqual([["now"]]);
    await expect(shipping.enqueue(sendInvoice, {})).rejects.toThrow("billing");
    await workWith(gate, isDone("send-invoice", 1));
    const { sharedLimits } = await scene.store.listSharedLimits({ max: 10 });
    expect(sharedLimits).toMatchObject([{ name: "partner-api", limit: 4 }]);
  } finally {
    said.mockRestore();
    await client.close();
    await shipping.end();
    await gate.end();
  }
});

test("gateOf with the app's own OpenTelemetry hands the spans of a task to the app's provider", async () => {
  const { gateOf } = await loadBlock<{ gateOf: (tasks: readonly AnyTaskKind[]) => Gate }>([
    "docs/reference/telemetry.md",
    "own-telemetry",
  ]);
  const spans = new InMemorySpanExporter();
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).register();
  const ship: TaskKind = defineTask({ name: "ship", run: async () => undefined });
  const gate = gateOf([ship]);
  try {
    await gate.enqueue(ship, {});
    await workWith(gate, isDone("ship", 1));
    const names = (): string[] => spans.getFinishedSpans().map(({ name }) => name);
    await until("the task's span has ended", async () =>
      names().some((name) => name.includes("ship")),
    );
  } finally {
    await gate.end();
    openTelemetry.trace.disable();
    openTelemetry.context.disable();
    openTelemetry.propagation.disable();
  }
});

testBlocksRan([
  ["docs/guides/events.md", "routes"],
  ["docs/guides/schedules.md", "schedule"],
  [apps, "owner"],
  [apps, "other-app"],
  ["docs/reference/telemetry.md", "own-telemetry"],
]);
