import type { LogFields, Logger } from "../ports/logger";

/** One line that code under test wrote. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps the messages in `lines` and prints nothing. */
export function createRecordingLogger(lines: LogLine[]): Logger {
  const say =
    (level: LogLine["level"]) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields });
    };
  return { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
}
