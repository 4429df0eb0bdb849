/** How the command line signs in to an app: by headers, whose values come from the environment and are never shown. */

/** The secrets of a caller; null: there is none. */
export interface SignIn {
  /** A function key. */
  readonly key: string | null;
  /** A bearer token for App Service's sign-in. */
  readonly token: string | null;
}

/** Longest secret: App Service takes headers of 16 KiB together. */
const secretLengthMax = 12_000;
const secretForm = /^[\x21-\x7e]+$/;

/** Can this stand in a header? Characters of ASCII without blanks. */
export function isSecretForm(text: string): boolean {
  return text.length <= secretLengthMax && secretForm.test(text);
}

/** The headers that let a caller in. An app with keys behind App Service's sign-in looks at both. */
export function signInHeaders({ key, token }: SignIn): Record<string, string> {
  return {
    ...(key === null ? {} : { "x-functions-key": key }),
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
}

/** What a caller that isn't let in can do, as the end of a sentence. */
export function describeSignIn({ key, token }: SignIn): string {
  const getToken = "`az account get-access-token --resource api://CLIENT_ID` gives one";
  if (token !== null)
    return `the token in TASKGATE_TOKEN is too old, or is meant for another app: ${getToken}`;
  if (key !== null)
    return `the app has no such key as TASKGATE_FUNCTION_KEY says, or it wants a sign-in with Entra: TASKGATE_TOKEN takes a token, ${getToken}`;
  return `set TASKGATE_FUNCTION_KEY to a function key of the app, or TASKGATE_TOKEN to a token where callers sign in with Entra: ${getToken}`;
}
