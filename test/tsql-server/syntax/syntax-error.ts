/** Text that the simulation doesn't read as T-SQL, with its place. */
export class TsqlSyntaxError extends Error {
  readonly fileName: string;
  readonly line: number;

  constructor(place: { fileName: string; line: number }, message: string) {
    super(`${place.fileName}:${String(place.line)}: ${message}`);
    this.name = "TsqlSyntaxError";
    this.fileName = place.fileName;
    this.line = place.line;
  }
}
