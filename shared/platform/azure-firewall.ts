import type { TokenCredential } from "@azure/identity";
import type * as identityPackage from "@azure/identity";
import { InvalidArgumentError, StoreUnavailableError } from "../core/errors";
import { loadPackage } from "../core/load-package";

/** Opens the firewall of an Azure SQL server for single addresses, through Azure Resource Manager, and closes it again. */
export interface AzureFirewall {
  /** Lets one address through; a second call for the same one does nothing. A change takes up to 5 minutes to act. */
  admit(address: string): Promise<void>;
  /** Takes back every address that was let through, also one that is under way. Rejects, naming the rules that are left. */
  close(): Promise<void>;
}

/** Which server, and through which Resource Manager. */
export interface AzureFirewallOptions {
  /** Resource id of the server. */
  readonly serverId: string;
  /** Without a slash at the end. */
  readonly resourceManagerUrl: string;
  readonly sleep: (ms: number) => Promise<void>;
}

const apiVersion = "2023-08-01";
const callTimeoutMs = 30_000;
const triesMax = 4;
const pauseMs = 1_000;
/** Answers that another try may change: a change of the same server is under way, throttled, broken. */
const passing = new Set([408, 409, 429, 500, 502, 503, 504]);

const serverIdForm =
  /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Sql\/servers\/[^/]+$/i;

/** Is it the resource id of an Azure SQL server? */
export function isServerId(text: string): boolean {
  return serverIdForm.test(text);
}

/** Nothing is loaded or sent before the first address. Throws InvalidArgumentError for what isn't a server's id. */
export function createAzureFirewall(options: AzureFirewallOptions): AzureFirewall {
  const { serverId } = options;
  if (!isServerId(serverId)) {
    throw new InvalidArgumentError(
      `Expected the resource id of an Azure SQL server (/subscriptions/../servers/NAME), got \`${serverId.slice(0, 200)}\``,
    );
  }
  const send = createSender(options);
  /** By address: the PUT of its rule, which may still be under way. */
  const rules = new Map<string, Promise<void>>();
  const pathOf = (address: string): string =>
    `${serverId}/firewallRules/${ruleNameOf(address)}?api-version=${apiVersion}`;
  return {
    admit: async (address) => {
      let opening = rules.get(address);
      if (opening === undefined) {
        const properties = { startIpAddress: address, endIpAddress: address };
        opening = send("PUT", pathOf(address), { properties });
        rules.set(address, opening);
      }
      await opening;
    },
    close: async () => {
      const left: string[] = [];
      for (const [address, opening] of rules) {
        if (await opening.then(() => false, isRefusal)) continue;
        try {
          await send("DELETE", pathOf(address));
          rules.delete(address);
        } catch (error) {
          left.push(`${ruleNameOf(address)} (${messageOf(error)})`);
        }
      }
      if (left.length === 0) return;
      throw new StoreUnavailableError(
        `The server's firewall could not be closed again. Delete by hand the rule of ${serverId}: ${left.join(", ")}`,
      );
    },
  };
}

/** One name for one address: what a killed process left behind is written again, not added to. */
function ruleNameOf(address: string): string {
  return `taskgate-migrate-${address.replaceAll(/[^0-9a-fA-F]/g, "-")}`;
}

type Send = (method: "PUT" | "DELETE", path: string, body?: unknown) => Promise<void>;

/** Signs in as AZURE_TOKEN_CREDENTIALS says: under azd as azd. */
function createSender({ resourceManagerUrl, sleep }: AzureFirewallOptions): Send {
  let credential: TokenCredential | undefined;
  const call: Send = async (method, path, body) => {
    const { DefaultAzureCredential } = loadPackage<typeof identityPackage>("@azure/identity");
    credential ??= new DefaultAzureCredential();
    const token = await credential.getToken(`${resourceManagerUrl}/.default`);
    const response = await fetch(`${resourceManagerUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token?.token ?? ""}`,
        "content-type": "application/json",
      },
      signal: AbortSignal.timeout(callTimeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // Gone is closed.
    if (response.ok || (method === "DELETE" && response.status === 404)) return;
    throw new RefusedError(response.status, describe(await response.text()));
  };
  return async (method, path, body) => {
    for (let tries = 1; ; tries += 1) {
      try {
        await call(method, path, body);
        return;
      } catch (error) {
        const isPassing = !(error instanceof RefusedError) || passing.has(error.status);
        if (isPassing && tries < triesMax) await sleep(pauseMs * tries);
        else throw toStoreError(method, error);
      }
    }
  };
}

/** Was it refused? Where no answer came the rule may be there. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof RefusedError && error.cause.status < 500;
}

class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, reason: string) {
    super(`${String(status)} ${reason}`);
    this.status = status;
  }
}

function toStoreError(method: "PUT" | "DELETE", error: unknown): StoreUnavailableError {
  const what = method === "PUT" ? "opened" : "closed";
  const isForbidden = error instanceof RefusedError && error.status === 403;
  const advice = isForbidden
    ? " It needs the right Microsoft.Sql/servers/firewallRules/write (and delete). Or open it for good: `azd env set SQL_CLIENT_IP ADDRESS`, then `azd provision`"
    : "";
  return new StoreUnavailableError(
    `The server's firewall can't be ${what} through Azure Resource Manager: ${messageOf(error)}.${advice}`,
    { cause: error },
  );
}

/** The reason in Resource Manager's answer, or its beginning. */
function describe(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string } };
    if (error !== undefined) return `${error.code ?? ""}: ${error.message ?? ""}`;
  } catch {
    // Not JSON: shown as it is.
  }
  return text.slice(0, 200);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // `fetch failed` alone says nothing.
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message.replace(/\.$/, "")}${cause}`;
}
