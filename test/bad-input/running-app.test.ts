/*
 * The tables of HTTP requests and queue messages, against the compiled app in one local host: a real database, a real queue
 * emulator. Each case has its wanted answer.
 */
import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { QueueServiceClient } from "@azure/storage-queue";
import type { QueueClient } from "@azure/storage-queue";
import { asTaskId } from "../../shared/core/ids";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import type { HostChild } from "../../shared/local/host-children";
import { sleep } from "../../shared/platform/real-clock";
import type { Problem } from "../../shared/admin/problem-list";
import { startApp } from "../functions/built-app";
import { newOperationId, setupApi } from "../functions/api-setup";
import type { ApiSetup } from "../functions/api-setup";
import { urlAs } from "../support/roles";
import { httpCases, wireCases } from "./http-cases";
import type { HttpCase } from "./http-cases";
import { queueCases } from "./queue-cases";
import type { QueueCase } from "./queue-cases";

let azurite: Azurite;
let api: ApiSetup;
let host: HostChild;
const lines: string[] = [];

beforeAll(async () => {
  [azurite, api] = await Promise.all([startAzurite(), setupApi()]);
  await api.register("known");
  host = await startApp(
    {
      TASKGATE_DATABASE_URL: urlAs(api.ownerUrl, "app"),
      AzureWebJobsStorage: azurite.connectionString,
      AzureFunctionsJobHost__extensions__queues__maxPollingInterval: "00:00:00.100",
      AzureFunctionsJobHost__extensions__queues__visibilityTimeout: "00:00:00",
    },
    (line) => lines.push(line),
  );
}, 180_000);
afterAll(async () => {
  await host.stop();
  await azurite.stop();
  await api.close();
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

function send({
  method,
  path,
  headers,
  body,
}: Omit<HttpCase, "title" | "status">): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const call = request(
      `${host.url}/api/`,
      // The path as it is: a URL would tidy it.
      { method, path: `/api/${path}`, headers: { ...type, ...headers } },
      (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("end", () => {
          const text = Buffer.concat(pieces).toString("utf8");
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    call.on("error", reject);
    call.end(body);
  });
}

describe("HTTP", () => {
  test.each(httpCases)("the request with $title is answered with $status", async (given) => {
    const answer = await send(given);
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([given.status, expect.anything()]);
    expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
    if (given.field === undefined) return;
    const body = JSON.parse(answer.text) as { problems: Problem[]; detail: string };
    expect(body.problems.map(({ field }) => field)).toContain(given.field);
    expect(body.problems.length).toBeLessThanOrEqual(20);
    expect(answer.text.length).toBeLessThan(20_000);
    expect(answer.headers).toMatchObject({
      "content-type": "application/problem+json",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
    for (const problem of body.problems) {
      expect(problem.value.length).toBeLessThanOrEqual(200);
      expect(problem.expected.length).toBeGreaterThan(3);
    }
  });

  test.each(wireCases)("the listener refuses %s", async (_, bytes, status) => {
    const { port } = new URL(host.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(bytes.replace("HOST", `127.0.0.1:${port}`));
    let answer = "";
    socket.on("error", () => undefined);
    socket.on("data", (piece) => (answer += String(piece)));
    for (let tries = 0; answer === "" && !socket.destroyed && tries < 100; tries += 1)
      await sleep(20);
    socket.destroy();
    expect(answer.split("\r\n")[0]).toMatch(status === null ? /^$/ : `HTTP/1.1 ${String(status)} `);
  });

  test("a bad request pollutes nothing, and the stored values are the sent ones", async () => {
    expect({}).not.toHaveProperty("polluted");
    const body = `{"payload":{"__proto__":{"polluted":true},"n":[0.1,1e24,-0]}}`;
    const { text } = await send({ method: "POST", path: "definitions/known/tasks", body });
    const { tasks } = JSON.parse(text) as { tasks: { task: string }[] };
    const facts = await api.store.explainTask({ taskId: asTaskId(tasks[0]?.task ?? "") });
    expect(facts).toMatchObject({ status: "found" });
  });

  test("30 requests with one operationId make one task", async () => {
    const body = JSON.stringify({ payload: null, operationId: newOperationId() });
    const one = { method: "POST", path: "definitions/known/tasks", body };
    const answers = await Promise.all(Array.from({ length: 30 }, () => send(one)));
    const ids = answers.map(({ text }) => (JSON.parse(text) as { tasks: unknown[] }).tasks);
    expect(new Set(ids.map((tasks) => JSON.stringify(tasks))).size).toBe(1);
  });

  test("one of 50 requests with one dedupe key makes a task", async () => {
    const body = JSON.stringify({ payload: null, dedupeKey: "once" });
    const one = { method: "POST", path: "definitions/known/tasks", body };
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(one)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(49).fill(200), 201]);
  });

  test("20 refused problems of many say how many more there are", async () => {
    const body = `{"tasks":[${Array(10_000).fill("{}").join(",")}]}`;
    const { text } = await send({ method: "POST", path: "definitions/known/tasks", body });
    expect(JSON.parse(text)).toMatchObject({
      moreProblems: 9_980,
      detail: expect.stringContaining("and 9,980 more"),
    });
  });

  test("a bad request leaves no error in the log", () => {
    expect(lines.filter((line) => /"level":"error"|\berror\b.*(at |stack)/i.test(line))).toEqual(
      [],
    );
  });
});

describe("queues", () => {
  const names = { hints: "taskgate-hints", ingest: "taskgate-ingest" } as const;
  const poisoned: { queue: string; text: string }[] = [];

  const client = (name: string): QueueClient =>
    QueueServiceClient.fromConnectionString(azurite.connectionString).getQueueClient(name);

  async function collect(): Promise<void> {
    for (const queue of Object.values(names)) {
      const poison = client(`${queue}-poison`);
      const { receivedMessageItems } = await poison.receiveMessages({ numberOfMessages: 32 });
      for (const { messageText, messageId, popReceipt } of receivedMessageItems) {
        poisoned.push({ queue, text: messageText });
        await poison.deleteMessage(messageId, popReceipt);
      }
    }
  }

  const base64 = (message: string | Uint8Array): string => Buffer.from(message).toString("base64");

  function poisonOf({ queue, message, isRaw, reason }: QueueCase): string | undefined {
    const own = poisoned.filter((entry) => entry.queue === names[queue]);
    if (reason === null)
      return own.find(({ text }) => text === (isRaw ? message : base64(message)))?.text;
    const found = own
      .map(({ text }) => Buffer.from(text, "base64").toString("utf8"))
      .find((text) => reasonOf(text)?.match(reason));
    return found === undefined ? undefined : reasonOf(found);
  }

  beforeAll(async () => {
    for (const queue of Object.values(names)) {
      await client(queue).createIfNotExists();
      await client(`${queue}-poison`).createIfNotExists();
    }
    for (const { queue, message, isRaw } of queueCases)
      await client(names[queue]).sendMessage(isRaw ? String(message) : base64(message));
    for (let tries = 0; poisoned.length < queueCases.length && tries < 200; tries += 1) {
      await collect();
      await sleep(50);
    }
  }, 60_000);

  test.each(queueCases)("a queue's message with $title goes to the poison queue", (given) => {
    expect(poisonOf(given)).toBeDefined();
  });

  test("each message was refused once", () => {
    expect(poisoned).toHaveLength(queueCases.length);
  });
});

/** The reason in an envelope of the poison queue. */
function reasonOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { taskgate?: { reason?: string } } | null)?.taskgate?.reason;
  } catch {
    return undefined;
  }
}
