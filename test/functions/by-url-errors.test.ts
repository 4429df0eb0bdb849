import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "@jest/globals";
import { invalidInput } from "../../shared/admin/read-result";
import { exitCodeOf } from "../../shared/cli/exit-codes";
import { runCli } from "../../shared/cli/main";
import { errorCodes, InvalidArgumentError, TaskgateError } from "../../shared/core/errors";
import type { ErrorCode } from "../../shared/core/errors";
import { SignInError } from "../../shared/functions/api/sign-in";
import { writeGateFile } from "../../shared/init/gate-file";
import { answering, failing, startScriptedApp } from "../support/scripted-app";
import type { Script, ScriptedApp } from "../support/scripted-app";

/*
 * Goal: of each answer at the address of an app a command says in a sentence what it was and what to do, with the exit code that the
 * same failure has with a database. A change isn't sent twice, and no secret leaves for another host or stands in an output. Method:
 * a server answers as the case says, the command line runs in this process.
 */

const secret = "key-hunter2";
let apps: ScriptedApp[] = [];
afterEach(async () => {
  await Promise.all(apps.map((app) => app.close()));
  apps = [];
});

async function start(script: Script): Promise<ScriptedApp> {
  const app = await startScriptedApp(script);
  apps.push(app);
  return app;
}

async function run(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ code: number; out: string; error: string; hangs: number }> {
  const lines = { out: [] as string[], error: [] as string[] };
  let hangs = 0;
  const code = await runCli({
    words,
    environment,
    folder: "/nowhere",
    output: {
      line: (text) => void lines.out.push(text),
      error: (text) => void lines.error.push(text),
      columns: null,
    },
    onHang: () => void (hangs += 1),
  });
  const error = lines.error.join("\n");
  expect(lines.out.join("\n") + error).not.toContain(secret);
  expect(error).not.toMatch(/^\s+at .*:\d+:\d+/m);
  return { code, out: lines.out.join("\n"), error, hangs };
}

/** `status` and `pause greet` of an app that answers so. */
async function ask(script: Script, environment: Readonly<Record<string, string>> = {}) {
  const app = await start(script);
  const read = await run(["status", "--url", app.url], environment);
  const reads = app.seen.length;
  const change = await run(["pause", "greet", "--url", app.url], environment);
  return { app, read, change, reads, changes: app.seen.length - reads };
}

const problem = { "content-type": "application/problem+json" };

describe("an error of the app", () => {
  const codes = Object.keys(errorCodes) as ErrorCode[];

  test.each(codes)("%s keeps its code and its exit code", async (code) => {
    const error = code.startsWith("TASKGATE_ARG_")
      ? invalidInput([{ field: "limit", value: "7", expected: "another" }], code)
      : new TaskgateError(code, "It went wrong: 17.");
    const app = await start(failing(error));
    const asked = await run(["pause", "greet", "--url", app.url, "--json"], {});
    expect(asked.code).toBe(exitCodeOf(error));
    const told = (JSON.parse(asked.error) as { error: { code: string; message: string } }).error;
    expect(told).toMatchObject({ code, ...error.details });
    // Of mistakes inside the app only the number of the log entry is told.
    const isInside = told.message.startsWith("The app failed (urn:taskgate:invocation:6f7c).");
    expect(isInside || told.message === error.message).toBe(true);
    expect(app.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  test("a mistake inside the app is told with the number of its log entry", async () => {
    const { read } = await ask(failing(new Error("a secret of the inside")));
    expect(read.code).toBe(1);
    expect(read.error).toBe(
      "taskgate: The app failed (urn:taskgate:invocation:6f7c). The log of the function app has the details.",
    );
  });

  test("an error of many problems counts those beyond the listed ones, as with a database", async () => {
    const problems = ["a", "b"].map((field) => ({ field, value: "1", expected: "another" }));
    const details = { problems, moreProblems: 9_980 };
    const { read } = await ask(failing(new InvalidArgumentError("many", { details })));
    expect(read.error).toContain("- and 9,980 more");
  });

  test.each([
    ["not JSON", "{"],
    ["nothing", ""],
    ["a text", '"x"'],
    [
      "damaged problems",
      '{"code":"TASKGATE_ARG_INVALID","detail":7,"problems":[null,{"field":1}]}',
    ],
    ["a code of its own", '{"code":"constructor","detail":"x"}'],
  ])("a damaged problem (%s) is an error with a sentence", async (_, text) => {
    const { read } = await ask(answering(400, text, problem));
    expect([1, 2]).toContain(read.code);
    expect(read.error).toMatch(/^taskgate: .{10,}/);
  });
});

describe("a caller that isn't let in", () => {
  test("a caller without a secret is told which variables there are", async () => {
    const { read, change } = await ask(answering(401));
    expect([read.code, change.code]).toEqual([1, 1]);
    expect(read.error).toContain("doesn't let the caller in (401)");
    expect(read.error).toContain("set TASKGATE_FUNCTION_KEY to a function key of the app, or");
  });

  test("a caller with a key is told that the app has no such key, or wants a sign-in", async () => {
    const { app, read } = await ask(answering(401), { TASKGATE_FUNCTION_KEY: secret });
    expect(read.error).toContain("the app has no such key as TASKGATE_FUNCTION_KEY says");
    expect(app.seen[0]?.headers).toMatchObject({ "x-functions-key": secret });
    expect(app.seen[0]?.headers).not.toHaveProperty("authorization");
  });

  test("a caller with a token is told that it is too old, and how to get another one", async () => {
    const { app, read } = await ask(answering(401), { TASKGATE_TOKEN: secret });
    expect(read.error).toMatch(/TASKGATE_TOKEN is too old, .*`az account get-access-token/);
    expect(app.seen[0]?.headers).toMatchObject({ authorization: `Bearer ${secret}` });
  });

  test("a caller without the app role is told which role is wanted", async () => {
    const { read } = await ask(failing(new SignInError(403, "This wants the app role X")));
    expect(read.code).toBe(1);
    expect(read.error).toContain("refuses the sign-in (403). This wants the app role X.");
  });

  test("a caller that the platform refuses is told of the allowed addresses", async () => {
    const { read } = await ask(answering(403, "<h1>Ip Forbidden</h1>"));
    expect([read.code, read.error]).toEqual([1, expect.stringContaining("API_ALLOWED_ADDRESSES")]);
  });

  test("a caller that is redirected to a sign-in page is told to sign in; the redirect isn't followed", async () => {
    const location = "https://login.microsoftonline.com/common?x";
    const { read, app } = await ask(answering(302, "", { location }), {
      TASKGATE_FUNCTION_KEY: secret,
    });
    expect(read.code).toBe(1);
    expect(read.error).toContain("doesn't let the caller in (302)");
    expect(app.seen).toHaveLength(2);
  });
});

describe("an answer that isn't Taskgate's", () => {
  test("a redirect elsewhere is told and not followed, so no key goes along", async () => {
    const other = await start(answering(200, "{}", { "content-type": "application/json" }));
    const { read, change } = await ask(
      answering(307, "", { location: `${other.url}/api/status` }),
      {
        TASKGATE_FUNCTION_KEY: secret,
      },
    );
    expect([read.code, change.code]).toEqual([1, 1]);
    expect(read.error).toContain(`leads elsewhere (307), to ${other.url}: give --url`);
    expect(other.seen).toEqual([]);
  });

  test("a page is told with its status and type", async () => {
    const { read, change } = await ask(answering(200, "<html>welcome</html>"));
    expect([read.code, change.code]).toEqual([1, 1]);
    expect(read.error).toContain("gave an answer that isn't Taskgate's (200, text/html)");
  });

  test("JSON of another shape is told as another version", async () => {
    const json = { "content-type": "application/json" };
    const app = await start(answering(200, '{"rows":[]}', json));
    const { code, error } = await run(["audit", "--url", app.url], {});
    expect([code, error]).toEqual([1, expect.stringContaining("lacks the list `entries`")]);
    const list = await ask(answering(200, "[]", json));
    expect(list.read.error).toContain("lacks an object: it has another version");
  });

  test.each([
    ...["status", "definitions greet", "limits", "groups greet", "schedules", "watermarks greet"],
    ...["tasks greet", "explain 1", "stats greet", "top greet", "executions", "batches", "batch 1"],
    ...[
      "audit",
      "failures",
      "doctor",
      "limit greet 2",
      "limit greet --shared 2",
      "rate greet 5/1s",
    ],
    ...["pause greet", "resume greet", "group greet k --slots 2", "schedule greet s"],
    ...[
      "schedule greet s --pause",
      "schedule greet s --resume",
      "schedule greet s --run",
      "owner greet shop",
      "cancel 1",
      "redrive 1",
    ],
    ...["redrive greet --all", "redrive greet --all --like x", "reschedule 10m 1"],
    ...[
      "stop --all",
      "resume --all",
      "batch 1 --resume",
      "batch 1 --cancel",
      "enqueue greet --payload {}",
    ],
    "watermark greet w --set {}",
  ])("`%s` takes an address that answers everything with 200 for no app", async (line) => {
    const json = { "content-type": "application/json" };
    const app = await start(answering(200, '{"status":"ok"}', json));
    const words = [...line.split(" "), "--url", app.url];
    const { code, out, error } = await run(words, {});
    expect([code, out, error]).toEqual([
      1,
      "",
      expect.stringContaining("it is no app of Taskgate"),
    ]);
  });

  test.each([
    ["status", '{"totals":{},"definitions":[null]}'],
    ["status", '{"totals":null}'],
    ["definitions", '{"definitions":[{}]}'],
    ["batches", '{"batches":[1]}'],
  ])("`%s` takes %s, which looks like an answer, for that of no app", async (line, body) => {
    const app = await start(answering(200, body, { "content-type": "application/json" }));
    const { code, error } = await run([line, "--url", app.url], {});
    expect([code, error]).toEqual([1, expect.stringContaining("it is no app of Taskgate")]);
  });

  test.each(["status", "pause greet"])(
    "`%s` shows what an app says without its control characters",
    async (line) => {
      const said = JSON.stringify({
        code: "TASKGATE_ARG_UNKNOWN",
        detail: "no\u001b[2J such\u009b31m\u202e name\nforged",
      });
      const app = await start(answering(404, said, { "content-type": "application/problem+json" }));
      const { error } = await run([...line.split(" "), "--url", app.url], {});
      expect(error).toContain("no [2J such 31m  name forged");
      expect(error).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
    },
  );

  test.each([502, 503, 504])(
    "a proxy's %d is tried three times for a look and once for a change, with exit code 4",
    async (status) => {
      const { read, change, reads, changes } = await ask(answering(status, "<h1>Bad</h1>"));
      expect([read.code, reads]).toEqual([4, 3]);
      expect(read.error).toContain(`gives no answer (${String(status)}, text/html): it may be`);
      expect([change.code, changes]).toEqual([4, 1]);
      expect(change.error).toContain("the change may still happen. Look before you repeat it");
    },
  );

  test("a route that the app lacks is told with its reasons, where the app tells its routes", async () => {
    const { change } = await ask((request, response) => {
      const isDocument = request.url === "/api/openapi.json";
      response
        .writeHead(isDocument ? 200 : 404, { "content-type": "application/json" })
        .end(isDocument ? '{"paths":{"/status":{}}}' : "");
    });
    expect(change.code).toBe(1);
    expect(change.error).toMatch(
      /has no route `POST definitions\/greet\/pause`: TASKGATE_OPERATOR_API is off there, or/,
    );
  });

  test("the prefix is told where no app is", async () => {
    const { read } = await ask(answering(404));
    expect(read.code).toBe(1);
    expect(read.error).toMatch(
      /No Taskgate answers at .*\/api: .* --url https:\/\/HOST\/api\/taskgate .* https:\/\/HOST\/ROUTE-PREFIX\/PREFIX/,
    );
  });

  test("the error, the runbook and the command line's page name the address at which `taskgate init` puts the API", async () => {
    const gate = writeGateFile({ isModule: true, taken: [] });
    const path = `/api/${/prefix: "(\w+)"/.exec(gate)?.[1] ?? "none"}`;
    const { read } = await ask(answering(404));
    expect(read.error).toContain(`--url https://HOST${path} `);
    const runbook = readFileSync("docs/operate/runbook.md", "utf8");
    expect(runbook).toContain(`--url https://APP.azurewebsites.net${path}\``);
    expect(readFileSync("docs/reference/cli.md", "utf8")).toContain(`https://HOST${path}\``);
  });

  test("an address with a path is taken as it is", async () => {
    const app = await start(answering(404));
    await run(["status", "--url", `${app.url}/gate/taskgate/`], {});
    expect(app.seen.map(({ path }) => path)).toEqual([
      "/gate/taskgate/status",
      "/gate/taskgate/openapi.json",
    ]);
  });

  test("an answer without end is left", async () => {
    const piece = Buffer.alloc(1024 * 1024, 0x20);
    const { read } = await ask((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const write = (): void => {
        while (response.writable && response.write(piece)) void 0;
        response.once("drain", write);
      };
      write();
    });
    expect(read.code).toBe(1);
    expect(read.error).toContain("gave an answer of more than 67108864 bytes");
  });
});

describe("the network", () => {
  test("a connection that breaks is tried again for a look, and not for a change", async () => {
    let broken = 0;
    const { read, change, reads, changes } = await ask((request, response) => {
      if (request.method === "GET" && broken >= 2) {
        response.writeHead(401).end();
        return;
      }
      broken += 1;
      request.socket.destroy();
    });
    // The third try got through.
    expect([reads, read.code, read.error]).toEqual([3, 1, expect.stringContaining("(401)")]);
    expect([changes, change.code]).toEqual([1, 4]);
    expect(change.error).toMatch(/The connection to .* broke.*: the change may have been made/);
  });

  test("a name that isn't known and a closed port are told as nothing that happened", async () => {
    const app = await start(answering(200));
    await app.close();
    apps = [];
    for (const url of [app.url, "https://taskgate.invalid"]) {
      const { code, error } = await run(["pause", "greet", "--url", url], {});
      expect(code).toBe(4);
      expect(error).toMatch(/can't be reached \((ECONNREFUSED|ENOTFOUND|EAI_AGAIN)\); nothing/);
    }
  });

  test("an app that is silent is told of after --timeout; its request is ended", async () => {
    const closed: Promise<unknown>[] = [];
    const app = await start((request) => {
      closed.push(new Promise((resolve) => request.socket.once("close", resolve)));
    });
    const begun = performance.now();
    const words = ["--url", app.url, "--timeout", "300ms"];
    const read = await run(["status", ...words], {});
    expect([read.code, read.hangs]).toEqual([4, 0]);
    expect(read.error).toBe(
      `taskgate: The app at ${app.url}/api doesn't answer: gave up after 300 ms`,
    );
    const change = await run(["pause", "greet", ...words], {});
    expect(change.error).toContain("gave up after 300 ms: the change may still happen");
    expect(performance.now() - begun).toBeLessThan(3_000);
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  test("--watch goes on when the app is away between two looks, and says so", async () => {
    let isAway = false;
    const status = JSON.stringify({
      ...{ dialect: "postgres", build: 1, expired: 0, nextDueMs: null, definitions: [] },
      totals: {
        executions: 0,
        running: 0,
        prefetched: 0,
        ready: 3,
        scheduled: 0,
        waiting: 0,
        dead: 0,
      },
    });
    const app = await start((request, response) => {
      const answer = request.url?.endsWith("/stop") === true ? '{"stop":null}' : status;
      const script = isAway
        ? answering(503)
        : answering(200, answer, { "content-type": "application/json" });
      script(request, response);
    });
    const lines: string[] = [];
    let looks = 0;
    const code = await runCli({
      words: ["status", "--watch", "--url", app.url],
      environment: {},
      folder: "/nowhere",
      output: { line: (text) => void lines.push(text), error: () => undefined, columns: null },
      repeater: () => ({
        pause: () => {
          looks += 1;
          isAway = looks === 1;
          return Promise.resolve(looks < 3);
        },
      }),
    });
    expect(code).toBe(0);
    expect(lines[0]).toContain("3 ready");
    expect(lines[1]).toMatch(/^taskgate: The app at .* gives no answer \(503/);
    expect(lines[2]).toContain("3 ready");
  });
});
