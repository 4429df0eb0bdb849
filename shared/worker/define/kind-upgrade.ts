import { storedKind } from "../../core/kind-version";
import { limits } from "../../core/limits";
import { refusedField } from "../../core/refused-field";
import { checkInteger } from "../../core/text";

/** The same type; the compiler infers nothing from where it stands. */
type Given<Type> = [Type][Type extends unknown ? 0 : never];

/**
 * Makes the next version's payload of a payload. Its parameter's type says what the old one is: `(old: { who: string }) => ..`.
 * Any object type will do, as the old input was: an interface and optional members are no type of JSON to the compiler.
 */
export type UpgradeStep<Next> = { step(old: object | null): Next }["step"];

/** At each version stands the one before it. */
type Before = [never, never, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];

/** Versions that have one before them. */
type LaterVersion = Exclude<Before[number], 1> | 20;

/** Every version before it. */
type Older<Version extends number> = Version extends LaterVersion
  ? Before[Version] | Older<Before[Version]>
  : never;

/** Each step gives the next version's payload; the last one gives what the kind takes now. */
type Upgrades<Version extends LaterVersion, Input> = {
  readonly [From in Older<Version>]?: From extends Before[Version]
    ? UpgradeStep<Given<Input>>
    : UpgradeStep<object | null>;
};

/** The payload's version, and what makes it of older ones. */
export type VersionOptions<Input> =
  | {
      /**
       * Version of the payload; grows when payloads that wait don't fit the code any more.
       * @default 1
       * @range 1..20
       */
      version?: 1;
      upgrade?: never;
    }
  | {
      [Version in LaterVersion]: {
        /**
         * Version of the payload; grows when payloads that wait don't fit the code any more.
         * @default 1
         * @range 1..20
         */
        version: Version;
        /**
         * By version: makes the next version's payload. Steps are applied one after the other. Without a step for its version a
         * task is a dead letter; steps that nothing needs any more may be left out from the beginning.
         * @default none
         */
        upgrade: Upgrades<Version, Input>;
      };
    }[LaterVersion];

/** Versions as they are read. */
export interface GivenVersion {
  readonly version?: number | undefined;
  readonly upgrade?: Readonly<Record<number, UpgradeStep<unknown> | undefined>> | undefined;
}

/** A kind as far as versions go. */
export interface VersionedKind {
  readonly kind: string;
  /** Of the payloads that the handler takes. */
  readonly version: number;
  /** By version: makes the next one's payload. */
  readonly upgrades: Readonly<Record<number, UpgradeStep<unknown> | undefined>>;
}

/** Checks version and steps. Throws InvalidArgumentError naming the field, the value and the expected form. */
export function versionOf({ version = 1, upgrade }: GivenVersion): Omit<VersionedKind, "kind"> {
  checkInteger("version", version, { min: 1, max: limits.kindVersionMax });
  if (upgrade === undefined) {
    if (version === 1) return { version, upgrades: {} };
    throw refusedField(
      "upgrade",
      `steps from older versions, such as { ${String(version - 1)}: (old) => .. }`,
    );
  }
  const froms = Object.keys(upgrade)
    .map(Number)
    .sort((a, b) => a - b);
  froms.forEach((from, index) => {
    const expected = version - froms.length + index;
    if (from !== expected || from < 1)
      throw refusedField(
        "upgrade",
        `one step for each version up to ${String(version - 1)}, without a gap (${froms.join(", ")})`,
      );
    if (typeof upgrade[from] !== "function")
      throw refusedField(`upgrade[${String(from)}]`, "a function");
  });
  return { version, upgrades: Object.freeze({ ...upgrade }) };
}

/** The names under which the database keeps tasks of the kind, oldest version first. */
export function storedKindsOf({ kind, version }: Omit<VersionedKind, "upgrades">): string[] {
  return Array.from({ length: version }, (_, index) => storedKind(kind, index + 1));
}

/** The version of a task of the kind, by the name under which the database keeps it; 0: the kind has no such version. */
export function versionStored({ kind, version }: VersionedKind, stored: string): number {
  // Once a task, so the newest, which most are of, is looked at first.
  let found = version;
  while (found > 0 && storedKind(kind, found) !== stored) found -= 1;
  return found;
}

/** A payload as the handler takes it, or why it can't be made. Throws what a step throws. */
export function upgradePayload(
  kind: VersionedKind,
  from: number,
  payload: unknown,
): { readonly payload: unknown } | { readonly problem: string } {
  let current = payload;
  for (let version = from; version < kind.version; version += 1) {
    const step = kind.upgrades[version];
    if (step === undefined)
      return {
        problem: `version ${String(version)} of kind ${kind.kind} has no upgrade in this build, whose version is ${String(kind.version)}`,
      };
    current = step(current as object | null);
  }
  return { payload: current };
}
