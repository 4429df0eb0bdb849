/**
 * The folder where files land, as a storage container would be on Azure: a new or changed file becomes an event. Its id
 * is made of name and content, so that the same file announced twice, by two runs say, is imported once.
 */
import { messageOf } from "../core/foreign-value";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SampleFile } from "./sample";

/** The event of a landed file, as the queue `taskgate-ingest` takes it. */
export interface LandedEvent {
  readonly eventId: string;
  readonly source: "landing";
  readonly type: "file-landed";
  readonly subject: string;
  readonly time: string;
  readonly data: { readonly path: string; readonly sha256: string };
}

/** What the folder needs to know and whom it tells. */
export interface LandingOptions {
  /** Absolute. */
  readonly folder: string;
  /** Files of other names are left where they are. */
  readonly accepts: (name: string) => boolean;
  /** Called for each new content, one after the other. A rejection is tried again at the next look. */
  readonly onEvent: (event: LandedEvent) => Promise<void>;
  readonly onProblem: (message: string) => void;
}

const lookEveryMs = 500;
/** Larger files are for real storage. */
const bytesMax = 256 * 1024 * 1024;

/** Watches the folder by looking: events of file systems get lost on network drives and in containers. */
export class LandingFolder {
  readonly #options: LandingOptions;
  /** Size and time of change at the last look; a file that still grows waits for the next. */
  readonly #seen = new Map<string, string>();
  /** Of which version the event is sent. */
  readonly #sent = new Map<string, string>();
  readonly #eventIds = new Set<string>();
  readonly #refused = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #look: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: LandingOptions) {
    this.#options = options;
  }

  /** Ids of all events so far. */
  get eventIds(): ReadonlySet<string> {
    return this.#eventIds;
  }

  /** Writes the sample's files, those that don't stand there already. */
  async place(files: readonly SampleFile[]): Promise<void> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true });
    for (const file of files) {
      const path = join(folder, file.name);
      const present = await readFile(path).catch(() => null);
      if (present?.equals(file.content) === true) continue;
      // Written under a name that no reader accepts: a file is seen whole or not at all.
      await writeFile(`${path}.part`, file.content);
      await rename(`${path}.part`, path);
    }
  }

  /** Announces existing files, then goes on looking until `stop`. */
  async start(): Promise<void> {
    await this.#lookOnce({ waitsForRest: false });
    this.#plan();
  }

  /** Ends the looking; waits for a look in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#look;
  }

  #plan(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#look = this.#lookOnce({ waitsForRest: true }).then(() => {
        this.#plan();
      });
    }, lookEveryMs);
  }

  async #lookOnce(options: { waitsForRest: boolean }): Promise<void> {
    const { folder, accepts, onProblem } = this.#options;
    try {
      for (const name of (await readdir(folder)).sort()) {
        if (this.#isStopped) return;
        if (accepts(name)) await this.#lookAt(name, options);
        else this.#refuse(name, "not a kind of file that the sample imports; left alone");
      }
    } catch (error) {
      onProblem(`${folder}: ${messageOf(error)}`);
    }
  }

  async #lookAt(name: string, options: { waitsForRest: boolean }): Promise<void> {
    const path = join(this.#options.folder, name);
    const facts = await stat(path);
    if (!facts.isFile()) return;
    const version = `${String(facts.size)}:${String(facts.mtimeMs)}`;
    if (this.#sent.get(name) === version) return;
    if (facts.size > bytesMax) {
      this.#refuse(name, `larger than ${String(bytesMax)} bytes; left alone`);
      return;
    }
    const isAtRest = this.#seen.get(name) === version;
    this.#seen.set(name, version);
    if (options.waitsForRest && !isAtRest) return;
    const sha256 = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    const id = `${name.slice(0, 120)}:${sha256.slice(0, 16)}`;
    if (!this.#eventIds.has(id)) {
      const time = new Date().toISOString();
      const data = { path, sha256 };
      await this.#options.onEvent({
        eventId: id,
        source: "landing",
        type: "file-landed",
        subject: name,
        time,
        data,
      });
      this.#eventIds.add(id);
    }
    this.#sent.set(name, version);
  }

  #refuse(name: string, reason: string): void {
    if (name.startsWith(".") || name.endsWith(".part") || this.#refused.has(name)) return;
    this.#refused.add(name);
    this.#options.onProblem(`landing/${name}: ${reason}`);
  }
}
