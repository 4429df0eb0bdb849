import type { EngineName } from "../../tsql-server/engine/options";
import type { ShippedFile } from "../shipped/shipped-world";

/** A fault of the shipped T-SQL as edits of its text. */
export interface PlantedBug {
  readonly name: string;
  /** Relative to the T-SQL folder. */
  readonly file: string;
  /** All occurrences are replaced. */
  readonly edits: readonly { readonly from: string; readonly to: string }[];
  /** The case that finds it, on which engine. */
  readonly foundBy: string;
  readonly engine: EngineName;
  /** The finding, as far as it is fixed. */
  readonly finding: RegExp;
}

/** The file with the bug; other files as they are. */
export function plant(bug: PlantedBug): (file: ShippedFile) => string {
  return (file) => {
    if (file.name !== bug.file) return file.text;
    return bug.edits.reduce((text, { from, to }) => {
      if (!text.includes(from)) throw new Error(`${bug.file} has no text ${JSON.stringify(from)}`);
      return text.replaceAll(from, to);
    }, file.text);
  };
}
