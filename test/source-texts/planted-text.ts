import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PlantedFault } from "../support/planted-setup";

const stores = join(__dirname, "../../shared/store");

/** A file of the stores with a fault; each edit must fit. */
export function plantedText({ file, edits }: PlantedFault): string {
  return edits.reduce(
    (text, { from, to }) => {
      if (!text.includes(from)) throw new Error(`${file} no longer says \`${from}\``);
      return text.replaceAll(from, to);
    },
    readFileSync(join(stores, file), "utf8"),
  );
}
