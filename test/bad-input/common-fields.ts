import type { Field } from "./bad-values";

/* Fields that several entries have. */

export const reason: Field = { name: "reason", kind: "text" };
export const max: Field = { name: "max", kind: "numeric text", min: 1, max: 1_000 };
/** A definition's name in a path. */
export const nameParam: Field = { name: "name", kind: "key" };
/** Of a route that changes something without more to say. */
export const operatorBody = { fields: [reason], good: {}, isOptional: true };
