import { InvalidArgumentError } from "../../core/errors";
import { limits } from "../../core/limits";
import { wholeText } from "../../core/text";
import { checkName } from "./checks";

/** An operator's change: what it is about, and what the audit says of it. */
export interface OperatorInput {
  name: string;
  changedBy: string;
  reason?: string;
}

/** The input of an operator's change with the texts of the audit as they are stored. */
export function cleanOperator<Input extends OperatorInput>(input: Input): Input {
  checkName(input.name);
  return { ...input, changedBy: cleanName(input.changedBy), ...cleanReason(input.reason) };
}

/** Who calls an operation and why, where the call changes no setting. */
export interface ActorInput {
  /** Left out: the audit names the database's login. */
  changedBy?: string;
  reason?: string;
}

/** The texts of the audit as they are stored. */
export function cleanActor({ changedBy, reason }: ActorInput): ActorInput {
  const actor = changedBy === undefined ? {} : { changedBy: cleanName(changedBy) };
  return { ...actor, ...cleanReason(reason) };
}

/** The actor's name as it is stored; a name of blanks would be none. */
function cleanName(changedBy: string): string {
  const name = wholeText("changed_by", changedBy, limits.nameLengthMax);
  if (name.trim() !== "") return name;
  throw new InvalidArgumentError(`changed_by: expected a name, or null for the login (${name})`, {
    details: { field: "changed_by" },
  });
}

/** The reason as it is stored, in the audit or as an error; nothing where there is none. */
export function cleanReason(reason: string | undefined): { reason?: string } {
  return reason === undefined
    ? {}
    : { reason: wholeText("reason", reason, limits.reasonLengthMax) };
}
