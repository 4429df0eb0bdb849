// Processes that a run of tests has left behind: they carry its mark in their environment, and the run is over. One of them is
// enough to keep jest waiting for ever, as it holds the output of the worker that started it.
const { readdirSync, readFileSync } = require("node:fs");

const name = "TASKGATE_TEST_RUN";

/** Marks all processes that this one will start. */
function markRun(mark) {
  process.env[name] = mark;
}

/** The marked processes that still run, this one left out. Linux only; elsewhere none is found. */
function findLeftBehind() {
  const mark = process.env[name];
  if (process.platform !== "linux" || mark === undefined) return [];
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .flatMap((entry) => {
      const [environment, command] = [read(entry, "environ"), read(entry, "cmdline")];
      if (!environment.split("\0").includes(`${name}=${mark}`)) return [];
      return command === "" ? [] : [{ pid: Number(entry), command: command.replaceAll("\0", " ") }];
    });
}

/** Ends those that don't end by themselves in 10 s, and says so in a line that `.ci/run` looks for. */
async function endLeftBehind() {
  for (let tries = 0; tries < 100 && findLeftBehind().length > 0; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
  for (const { pid, command } of findLeftBehind()) {
    // Addresses of databases hold passwords.
    const shown = command.replaceAll(/:\/\/\S+/g, "://..").slice(0, 300);
    console.error(`a test has left a process behind: ${shown}`);
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself meanwhile.
    }
  }
}

/** "" where the process has ended, or belongs to another user. */
function read(entry, file) {
  try {
    return readFileSync(`/proc/${entry}/${file}`, "utf8");
  } catch {
    return "";
  }
}

module.exports = { markRun, findLeftBehind, endLeftBehind };
