import { formatDuration } from "../core/duration";

/** A transaction that is open for longer than this is reported: ours end after 30 s. */
export const toldAfterMs = 30_000;
/** Sessions that are listed. */
const listedMax = 20;

/** What `doctor` says of sessions that hold rows. */
export interface HoldersReport {
  readonly status: "ok" | "note";
  readonly text: string;
}

/** A session that holds rows of the schema. */
export interface Holder {
  readonly session: string;
  readonly user: string;
  readonly host: string;
  /** May be empty. */
  readonly program: string;
  /** Since its transaction began; null: not to be seen by this login. */
  readonly ageMs: number | null;
  /** The statement that ends it. */
  readonly end: string;
}

/** Names those whose transaction has been open for longer than 30 s; `more`: sentences of the dialect's own behind them. */
export function reportOf(holders: readonly Holder[], more: readonly string[]): HoldersReport {
  const long = holders.filter(({ ageMs }) => ageMs !== null && ageMs >= toldAfterMs);
  const texts = long.slice(0, listedMax).map(describe);
  if (long.length > listedMax) texts.push(`${String(long.length - listedMax)} more do, too.`);
  texts.push(...more);
  if (texts.length === 0) return { status: "ok", text: "No transaction holds rows for long." };
  return { status: "note", text: texts.join(" ") };
}

function describe({ session, user, host, program, ageMs, end }: Holder): string {
  return (
    `Session ${session} of ${user} from ${host} (${program === "" ? "no program's name" : program}) ` +
    `has held rows in one transaction for ${formatDuration(Number(ageMs))}: what they belong to comes back when it ends. ` +
    `\`${end}\` ends it.`
  );
}
