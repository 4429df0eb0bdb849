/** What `npm start` runs once the app is built: `taskgate dev` for the app that this file was built with. */
import { resolve } from "node:path";
import { runProgram } from "../cli/main";

/** The folder with package.json; this file is compiled to dist/shared/local. */
const appRoot = resolve(__dirname, "..", "..", "..");

void runProgram(["dev", "--app", appRoot, ...process.argv.slice(2)]);
