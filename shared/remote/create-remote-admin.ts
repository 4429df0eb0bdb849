/**
 * The admin of an app that runs elsewhere, over its HTTP API: for a command line that has no database. Each call is one request of the
 * route that makes the same call there. May import core, ports and admin; opens nothing before the first call.
 */
import type { Admin } from "../admin/create-admin";
import { appChanges } from "./app-changes";
import type { AppConnection } from "./app-connection";
import { examineApp } from "./app-doctor";
import { enqueueByApp } from "./app-enqueue";
import { appReads } from "./app-reads";

/**
 * The same calls as beside the database, with the same answers and errors. Beyond them it throws StoreForbiddenError for a caller that
 * isn't let in, StoreUnavailableError and StoreUncertainError where the app can't be reached, and StoreContractError for an answer
 * that isn't Taskgate's.
 */
export function createRemoteAdmin(app: AppConnection): Admin {
  const reads = appReads(app);
  return {
    ...reads,
    ...appChanges(app),
    enqueue: (request) => enqueueByApp(app, request),
    doctor: ({ deep }) => examineApp(reads, { deep }),
  };
}
