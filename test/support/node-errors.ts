/* Errors of Node are instances of Error in tests, too. Imported for its effect. */
import "../tsql-server/support/node-errors";
