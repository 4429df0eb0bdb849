import type { Statement } from "../syntax/ast-statements";
import { Binder } from "./bind/binder";
import type { Connection } from "./connection";
import { Frame } from "./frame";
import { Program } from "./program";
import type { World } from "./world";
import { TableData } from "../storage/table";

/** Compiled batches, procedures and functions: kept with the catalogue that they were bound to. */

export interface ModuleText {
  /** With schema; empty for a batch. */
  readonly name: string;
  readonly fileName: string;
  readonly schema: string;
  readonly body: readonly Statement[];
  /** Declares parameters, before the body's own variables. */
  readonly declare?: (binder: Binder) => void;
}

/** The program of a module; `key` is the tree it was made from, which never changes. */
export function programOf(world: World, key: object, makeText: () => ModuleText): Program {
  const { plans } = world.catalog;
  const { modules } = plans;
  const known = modules.get(key);
  if (known instanceof Program) return known;
  const text = makeText();
  const binder = new Binder(plans.catalogOf(world.catalog), world.options, {
    name: text.name,
    fileName: text.fileName,
    isStrict: world.options.strictSchemas.includes(text.schema),
  });
  if (text.name !== "") binder.owner = world.catalog.ownerOf(text.schema);
  text.declare?.(binder);
  const present = (now: World): Program =>
    now.catalog.plans === plans ? program : programOf(now, key, makeText);
  const program: Program = new Program(binder, text.body, present);
  modules.set(key, program);
  return program;
}

/** A frame with its table variables, all empty. */
export function newFrame(connection: Connection, program: Program): Frame {
  const frame = new Frame(connection, program.binder.moduleName);
  for (const { place, schema } of program.binder.tables)
    frame.tables[place] = new TableData(schema);
  return frame;
}
