/** What a local run was asked for. */
export interface StartOptions {
  /** The folder with host.json and package.json. */
  readonly appRoot: string;
  /** End when the pipeline is done, with an exit code that says how it went. */
  readonly isOnce: boolean;
  /** Without the sample: only the app's own tasks; it runs until it is ended. */
  readonly isWithoutSample: boolean;
  /** Go on with the data of the last run, also when that run was finished. */
  readonly keepsData: boolean;
  /** The embedded PostgreSQL doesn't wait for the disk: a power cut may cost the data. */
  readonly isFast: boolean;
  /** Address of a database of the user's own; null: that of local.settings.json, or the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  /** TCP port of the first host. */
  readonly port: number;
  /** Limit of the sample's paced definition; null: the code's. */
  readonly limit: number | null;
  /** One JSON object a line on standard output, for programs. */
  readonly isJson: boolean;
  /** Hosts, each a process, on the same queues and database; 0: the database and the queues alone. */
  readonly hosts: number;
  /** The folder of `.taskgate/` and `landing/`. */
  readonly home: string;
}
