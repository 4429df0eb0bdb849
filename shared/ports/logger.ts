/** Facts that go with a line; plain values only. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Where code says what people should know. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}
