import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** One telemetry item as it is sent to Application Insights; of its many members those that tests look at. */
export interface Item {
  readonly name: string;
  readonly time: string;
  readonly sampleRate?: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly data: { readonly baseType: string; readonly baseData: ItemData };
}

/** Of a dependency, a metric or an exception: what it doesn't have is undefined. */
export interface ItemData {
  readonly id?: string;
  readonly name?: string;
  readonly type?: string;
  readonly target?: string;
  readonly data?: string;
  readonly success?: boolean;
  readonly resultCode?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly metrics?: readonly {
    readonly name: string;
    readonly value: number;
    readonly count?: number;
  }[];
}

/** An Application Insights that keeps what it gets. */
export interface Ingestion {
  readonly connectionString: string;
  readonly instrumentationKey: string;
  readonly items: Item[];
  /** `authorization` of each request; empty texts where there was none. */
  readonly authorizations: string[];
  close(): Promise<void>;
}

const tls = join(__dirname, "../fixtures/tls");
/** For NODE_EXTRA_CA_CERTS of the process that sends: the exporter turns http into https in any case. */
export const certificateFile = join(tls, "certificate.pem");
const instrumentationKey = "11111111-2222-4333-8444-555555555555";

/** Starts it on a free port of 127.0.0.1. `isSilent`: it takes requests and never answers. */
export async function startIngestion(options: { isSilent?: boolean } = {}): Promise<Ingestion> {
  const items: Item[] = [];
  const authorizations: string[] = [];
  const server = createServer({
    key: readFileSync(join(tls, "key.pem")),
    cert: readFileSync(certificateFile),
  });
  server.on("request", (request, response) => {
    void bodyOf(request).then((body) => {
      authorizations.push(request.headers.authorization ?? "");
      if (options.isSilent === true) return;
      const isTrack = request.method === "POST" && request.url === "/v2.1/track";
      if (isTrack) items.push(...(JSON.parse(body) as Item[]));
      const count = isTrack ? (JSON.parse(body) as Item[]).length : 0;
      response.writeHead(isTrack ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify({ itemsReceived: count, itemsAccepted: count, errors: [] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    connectionString: `InstrumentationKey=${instrumentationKey};IngestionEndpoint=https://127.0.0.1:${String(port)}/`,
    instrumentationKey,
    items,
    authorizations,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return (request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString(
    "utf8",
  );
}
