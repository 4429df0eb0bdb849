import type { HttpRequest } from "@azure/functions";
import { isStorable } from "../../admin/text-rule";
import type { SignInSettings } from "../../settings/settings";
import { jsonMembers } from "../../core/json-members";
import { isFromOtherSite } from "./other-site";

/**
 * Who calls the API and what they may do. Where callers sign in with Entra, the platform checks their token before the
 * app hears of the request and writes X-MS-CLIENT-PRINCIPAL anew; without that sign-in the header is what any caller
 * wrote, and means nothing.
 */

/** What a route wants: to read, or to change something. */
export type Right = "read" | "operate";

/** App roles of the app registration. A reader sees no payloads and results; an operator may do all that the others may. */
export const appRoles = {
  reader: "Taskgate.Reader",
  payloads: "Taskgate.Payloads",
  operator: "Taskgate.Operator",
} as const;

/** A caller that is not let in. 401: the caller is unknown; 403: a known caller lacks the role, or it is a page of another site. */
export class SignInError extends Error {
  readonly status: 401 | 403;

  constructor(status: 401 | 403, message: string) {
    super(message);
    this.status = status;
  }
}

interface Caller {
  /** For the audit; null: the caller is unknown. */
  readonly name: string | null;
  readonly mayOperate: boolean;
  readonly maySeePayloads: boolean;
}

const unknownCaller: Caller = { name: null, mayOperate: true, maySeePayloads: true };
/** The platform's header is about 4 KiB for a person with a few roles. */
const principalLengthMax = 64 * 1_024;
/** Longest name of a caller that the audit keeps. */
const nameLengthMax = 180;

const callers = new WeakMap<HttpRequest, Caller>();

/** Lets a request in, and notes who calls. Throws SignInError for one that isn't let in. */
export function admit(request: HttpRequest, right: Right, settings: SignInSettings): void {
  if (!settings.hasPlatformSignIn) return;
  if (settings.apiSignIn === "keys") {
    // The key is what let the request in; the platform's word tells the audit whose browser or program it was.
    callers.set(request, { ...unknownCaller, name: nameOf(request) });
    return;
  }
  const roles = rolesOf(request);
  const mayOperate = roles.includes(appRoles.operator);
  if (!mayOperate && (right === "operate" || !roles.includes(appRoles.reader))) {
    const wanted =
      right === "read" ? `${appRoles.reader} or ${appRoles.operator}` : appRoles.operator;
    throw new SignInError(
      403,
      `This wants the app role ${wanted}; the sign-in has ${roles.length === 0 ? "none" : roles.join(", ")}. Whoever administers the app's registration in Entra assigns it (docs/operate/security.md)`,
    );
  }
  if (right === "operate" && isFromOtherSite(request))
    throw new SignInError(403, "A page of another site may not change anything here");
  const maySeePayloads = mayOperate || roles.includes(appRoles.payloads);
  callers.set(request, { name: nameOf(request), mayOperate, maySeePayloads });
}

/** May the caller change something? True for every caller with a function key. */
export function mayOperate(request: HttpRequest): boolean {
  return (callers.get(request) ?? unknownCaller).mayOperate;
}

/** May the caller see payloads and results? True for every caller with a function key. */
export function maySeePayloads(request: HttpRequest): boolean {
  return (callers.get(request) ?? unknownCaller).maySeePayloads;
}

/** Refuses a caller who may not see payloads. Throws SignInError. */
export function needPayloads(request: HttpRequest): void {
  if (maySeePayloads(request)) return;
  throw new SignInError(
    403,
    `A search in payloads (\`where\`) wants the app role ${appRoles.payloads} or ${appRoles.operator}. Whoever administers the app's registration in Entra assigns it (docs/operate/security.md)`,
  );
}

/** Who calls, for the audit: `http`, or `http:` and the name that the platform's sign-in knows. */
export function callerName(request: HttpRequest): string {
  const { name } = callers.get(request) ?? unknownCaller;
  return name === null ? "http" : `http:${name}`;
}

/** A person has a name, a program's identity only an id. */
function nameOf(request: HttpRequest): string | null {
  for (const header of ["x-ms-client-principal-name", "x-ms-client-principal-id"]) {
    const name = request.headers.get(header) ?? "";
    if (name !== "" && isStorable(name)) return name.slice(0, nameLengthMax);
  }
  return null;
}

/** The app roles of the platform's principal. Throws SignInError where there is none that can be read. */
function rolesOf(request: HttpRequest): string[] {
  const header = request.headers.get("x-ms-client-principal");
  if (header === null)
    throw new SignInError(401, "Sign in with Entra: the request has no identity");
  const principal = header.length > principalLengthMax ? null : readPrincipal(header);
  if (principal === null)
    throw new SignInError(401, "The platform's word on who calls can't be read");
  const known: readonly string[] = Object.values(appRoles);
  const { claims, roleType } = principal;
  return claims
    .filter(({ typ, val }) => (typ === "roles" || typ === roleType) && known.includes(val))
    .map(({ val }) => val);
}

interface Claim {
  readonly typ: string;
  readonly val: string;
}

/** Base64 of `{ auth_typ, role_typ, claims: [{ typ, val }] }`; null where it isn't that, or isn't Entra's. */
function readPrincipal(header: string): { claims: Claim[]; roleType: string } | null {
  const text = Buffer.from(header, "base64").toString("utf8");
  const { auth_typ: provider, role_typ: roleType, claims } = jsonMembers(text);
  if (provider !== "aad" || !Array.isArray(claims)) return null;
  return {
    claims: claims.filter(isClaim),
    roleType: typeof roleType === "string" ? roleType : "roles",
  };
}

function isClaim(claim: unknown): claim is Claim {
  if (typeof claim !== "object" || claim === null) return false;
  const { typ, val } = claim as Record<string, unknown>;
  return typeof typ === "string" && typeof val === "string";
}
