const { setFlagsFromString } = require("node:v8");
const swc = require("@swc/jest");

// Each test file has functions of its own, most of which live for seconds: V8 optimizes those that earn it. With its own
// figure, a sixth of this one, tests take a twelfth more of the processor.
setFlagsFromString("--interrupt-budget=400000");

/*
 * @swc/jest, with globals as constants of each module. Tests run in a context of their own, where each look at a global is
 * slow: simulations take more than twice as long without this. (jest's sandboxInjectedGlobals does the same to packages, and
 * some of those declare such names themselves.) Not Date: fake timers exchange it.
 */

const names =
  "Array, BigInt, Boolean, Error, JSON, Map, Math, Number, Object, Set, String, Symbol, Uint8Array";
const prologue = `const { ${names} } = globalThis;`;
const strict = /^"use strict";/m;

/** On a line that is there, so that all lines keep their numbers. A module without it has nothing but types. */
function withPrologue(result) {
  return { ...result, code: result.code.replace(strict, (found) => `${found} ${prologue}`) };
}

exports.createTransformer = (options) => {
  const transformer = swc.createTransformer(options);
  return {
    ...transformer,
    process: (...source) => withPrologue(transformer.process(...source)),
    getCacheKey: (...source) => `${transformer.getCacheKey(...source)} ${prologue}`,
  };
};
