// Preloaded into a process of a test, whose time then runs TASKGATE_TEST_TIME_FACTOR times as fast: its timers, its
// monotonic clock, and the times for which queues hide its messages (those by TASKGATE_TEST_VISIBILITY_FACTOR where that is
// set). What the storage is given to answer stays as it is (AbortSignal.timeout), and so does the wall clock, by which requests
// to it are signed. Queues count whole seconds: less than one is one.
"use strict";

const { performance } = require("node:perf_hooks");
const { QueueClient } = require("@azure/storage-queue");

const factor = Number(process.env.TASKGATE_TEST_TIME_FACTOR);
const hiddenFactor = Number(process.env.TASKGATE_TEST_VISIBILITY_FACTOR ?? factor);
if (!(factor >= 1 && hiddenFactor >= 1)) throw new Error("Expected factors of 1 or more");

for (const name of ["setTimeout", "setInterval"]) {
  const real = globalThis[name];
  const fast = (callback, ms = 0, ...rest) => real(callback, ms / factor, ...rest);
  // What `util.promisify` takes in its place, and other marks.
  for (const key of Reflect.ownKeys(real)) {
    if (typeof key === "symbol")
      Object.defineProperty(fast, key, Object.getOwnPropertyDescriptor(real, key));
  }
  globalThis[name] = fast;
}

const now = performance.now.bind(performance);
performance.now = () => now() * factor;

const hidden = (seconds) => (seconds === undefined ? seconds : Math.ceil(seconds / hiddenFactor));
const { prototype } = QueueClient;
const { sendMessage, receiveMessages, updateMessage } = prototype;
prototype.sendMessage = function (text, options = {}) {
  const visibilityTimeout = hidden(options.visibilityTimeout);
  return sendMessage.call(this, text, { ...options, visibilityTimeout });
};
prototype.receiveMessages = function (options = {}) {
  const visibilityTimeout = hidden(options.visibilityTimeout);
  return receiveMessages.call(this, { ...options, visibilityTimeout });
};
prototype.updateMessage = function (id, receipt, text, seconds, options) {
  return updateMessage.call(this, id, receipt, text, hidden(seconds), options);
};
