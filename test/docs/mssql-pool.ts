// The driver must see errors of sockets here as it does outside jest.
import "../support/node-errors";
import sql from "mssql";

/** A program's own connections to the T-SQL server of the tests. */
export function connectMssql(url: string): Promise<sql.ConnectionPool> {
  const { hostname, port, username, password, pathname } = new URL(url);
  return new sql.ConnectionPool({
    server: hostname,
    port: Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
    options: { trustServerCertificate: true, encrypt: false },
  }).connect();
}
