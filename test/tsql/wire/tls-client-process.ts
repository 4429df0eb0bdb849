import { MssqlCaller } from "../../../shared/store/mssql/mssql-caller";
import { TaskgateError } from "../../../shared/core/errors";

/* Calls one procedure at the address in its argument, and writes the answer or the error as one line. */

/** More than some packets. */
const longText = "x".repeat(200_000);

async function main(): Promise<void> {
  const caller = new MssqlCaller({
    url: process.argv[2] ?? "",
    connectionsMax: 1,
    callTimeoutMs: 5_000,
    connectTimeoutMs: 5_000,
  });
  try {
    process.stdout.write(
      JSON.stringify(
        await caller.call({ name: "sweep", parameters: [["note", "text"]] }, { note: longText }),
      ),
    );
  } catch (error) {
    if (!(error instanceof TaskgateError)) throw error;
    process.stdout.write(`${error.code} ${error.message}`);
  } finally {
    await caller.close();
  }
}

void main();
