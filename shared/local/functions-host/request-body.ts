/** Reads the bodies of requests, with a bound on each and on all that are held at once. */
import type { IncomingMessage } from "node:http";

/** Bounds of one server. */
export interface BodyBounds {
  /** Bytes of one body. */
  readonly oneMax: number;
  /** Bytes of all bodies together. */
  readonly allMax: number;
}

/** Of one body Azure's own limit; of all together one of the largest, and what ordinary requests need beside it. */
const azureBounds: BodyBounds = { oneMax: 104_857_600, allMax: 121_634_816 };
/** A request with one of these methods has no body for a function: Azure's library drops it. */
const bodiless = new Set(["GET", "HEAD"]);

/** A body that can't be taken. */
export interface RefusedBody {
  readonly status: 413 | 503;
  readonly reason: string;
}

/** A body, and how its bytes are given back once the request has been answered. */
export interface HeldBody {
  readonly bytes: Buffer;
  readonly release: () => void;
}

/** Bodies of one server. */
export class RequestBodies {
  readonly #bounds: BodyBounds;
  #heldBytes = 0;

  constructor(bounds: BodyBounds = azureBounds) {
    this.#bounds = bounds;
  }

  /**
   * The whole body, or why it isn't taken: 413 where it is larger than Azure takes, 503 where too much is held for other
   * requests. What tells its length is refused before it is read. Of GET and HEAD nothing is read.
   */
  async read(request: IncomingMessage): Promise<HeldBody | RefusedBody> {
    if (bodiless.has(request.method ?? "")) return { bytes: Buffer.alloc(0), release: () => {} };
    const chunks: Buffer[] = [];
    let byteCount = 0;
    const release = (): void => {
      this.#heldBytes -= byteCount;
      byteCount = 0;
    };
    const refuse = (refused: RefusedBody): RefusedBody => {
      release();
      return refused;
    };
    const { oneMax, allMax } = this.#bounds;
    const told = Number(request.headers["content-length"] ?? "0");
    if (told > oneMax) return tooLarge(oneMax);
    if (this.#heldBytes + told > allMax) return tooMany(allMax);
    try {
      // The connection lives on for the answer.
      const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      for await (const chunk of pieces) {
        byteCount += chunk.length;
        this.#heldBytes += chunk.length;
        if (byteCount > oneMax) return refuse(tooLarge(oneMax));
        if (this.#heldBytes > allMax) return refuse(tooMany(allMax));
        chunks.push(chunk);
      }
    } catch (error) {
      release();
      throw error;
    }
    return { bytes: Buffer.concat(chunks), release };
  }
}

function tooLarge(bytesMax: number): RefusedBody {
  const reason = `The body is larger than ${String(bytesMax)} bytes, which is what Azure takes.`;
  return { status: 413, reason };
}

function tooMany(bytesMax: number): RefusedBody {
  const reason = `Bodies of other requests fill the ${String(bytesMax)} bytes there are for them. Send it again.`;
  return { status: 503, reason };
}
