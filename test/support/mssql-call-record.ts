import { Connection } from "tedious";
import type { Request } from "tedious";
import { recordCalls } from "./call-record";
import type { CallRecord } from "./call-record";

/* Apart from the record itself: this driver takes half a second to load, and most test files never call it. */

let isRecording = false;

/** The record of this process, with what is sent to SQL Server from now on. */
export function recordMssqlCalls(): CallRecord {
  const record = recordCalls();
  if (!isRecording) recordMssql(record);
  isRecording = true;
  return record;
}

function recordMssql(into: CallRecord): void {
  const prototype = Connection.prototype as unknown as MssqlSender;
  for (const way of ["callProcedure", "execSql", "execSqlBatch"] as const) {
    const send = prototype[way];
    prototype[way] = function (this: MssqlSender, request) {
      const { sqlTextOrProcedure = "" } = request as { sqlTextOrProcedure?: string };
      into.note(this.config.authentication.options.userName, sqlTextOrProcedure);
      send.call(this, request);
    };
  }
}

type Send = (this: MssqlSender, request: Request) => void;

interface MssqlSender {
  readonly config: {
    readonly authentication: { readonly options: { readonly userName?: string } };
  };
  callProcedure: Send;
  execSql: Send;
  execSqlBatch: Send;
}
