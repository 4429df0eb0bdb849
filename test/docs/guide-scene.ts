import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTask } from "../../shared";
import type { Gate } from "../../shared/functions";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import type { AnyTaskKind } from "../../shared/worker/define/task-kind";
import { openGateScene } from "../functions/gate-scene";
import type { GateScene } from "../functions/gate-scene";
import { urlAs } from "../support/roles";
import { withClient } from "../support/test-postgres";
import { pastedApp } from "./run-blocks";

/** What the blocks of a guide have around them: the app's gate, its database and its queues. */
export interface GuideScene extends Pick<GateScene, "azurite" | "queue" | "url"> {
  /** The gate of `functions/gate.ts`, which the blocks import. */
  readonly gate: Gate;
  /** As the app's login. */
  readonly store: TaskStore;
  /** As the database's owner. */
  query(sql: string, values?: readonly unknown[]): Promise<unknown[]>;
  close(): Promise<void>;
}

/** Opens it, on a real PostgreSQL and a real storage emulator. `sql`: tables that the reader of the guide has. */
export async function openGuideScene(sql = ""): Promise<GuideScene> {
  const { azurite, queue, url, close } = await openGateScene({ tasks: [] });
  const query: GuideScene["query"] = (text, values = []) =>
    withClient(url, async (client) => (await client.query<object>(text, [...values])).rows);
  await query(sql);
  const file = join(pastedApp, "functions/gate.ts");
  mkdirSync(join(pastedApp, "functions"), { recursive: true });
  writeFileSync(
    file,
    'import { taskgate } from "taskgate/functions";\nexport const gate = taskgate({ tasks: [] });\n',
  );
  const { gate } = (await import(file)) as { gate: Gate };
  const store = openStore({
    url: urlAs(url, "app"),
    connectionsMax: 3,
    random: realRandom,
    sleep,
  });
  return {
    ...{ azurite, queue, url, gate, store, query },
    close: async () => {
      await gate.end();
      await store.close();
      await close();
    },
  };
}

/** A kind of the reader's, which notes its payloads in `ran`: `load a.csv 1`. */
export function notingKind(name: string, ran: string[]): AnyTaskKind {
  return defineTask<Record<string, unknown> | null>({
    name,
    run: async (payload) => void ran.push([name, ...Object.values(payload ?? {})].join(" ")),
  });
}
