// `npm start`: builds the app and runs it in this process. It says so before the compiler is loaded, which takes seconds.
"use strict";
const { spawn } = require("node:child_process");
const { join } = require("node:path");
const { clearInterval, setInterval } = require("node:timers");

const { stdout } = process;
stdout.write(`Building the app ..${stdout.isTTY ? "" : "\n"}`);
const startedAt = Date.now();
const ticking = setInterval(() => {
  if (stdout.isTTY)
    stdout.write(`\rBuilding the app .. ${Math.round((Date.now() - startedAt) / 1000)} s`);
}, 1000);

// npm says where it is; without a shell Ctrl-C reaches the compiler alone.
const npm = process.env.npm_execpath;
const build = ["run", "--silent", "build"];
const options = { cwd: join(__dirname, ".."), stdio: ["ignore", "inherit", "inherit"] };
const child =
  npm === undefined
    ? spawn("npm", build, { ...options, shell: true })
    : spawn(process.execPath, [npm, ...build], options);
child.once("close", (code) => {
  clearInterval(ticking);
  if (stdout.isTTY) stdout.write("\n");
  if (code === 0) {
    require(join(__dirname, "..", "dist", "shared", "local", "start.js"));
    return;
  }
  process.stderr.write("The app could not be built: see above.\n");
  process.exitCode = 1;
});
