/** Looks up app settings the way binding declarations refer to them. */

/** App settings by name. */
export type AppSettings = Readonly<Record<string, string | undefined>>;

/** Replaces each `%NAME%` in a binding's text with the setting of that name; throws if absent. */
export function resolveSettings(text: string, settings: AppSettings): string {
  return text.replaceAll(/%([^%]+)%/g, (whole, name: string) => {
    const value = settings[name];
    if (value === undefined || value === "") {
      throw new Error(`The binding says ${whole}, but there is no setting named ${name}.`);
    }
    return value;
  });
}

/** Finds a storage connection string by the name that a binding gives. Throws if absent. */
export function storageConnection(name: string | undefined, settings: AppSettings): string {
  const wanted = name ?? "AzureWebJobsStorage";
  const value = settings[wanted] ?? settings[`AzureWebJobs${wanted}`];
  if (value !== undefined && value !== "") return value;
  const isIdentity = Object.keys(settings).some((key) => key.startsWith(`${wanted}__`));
  throw new Error(
    isIdentity
      ? `The storage connection ${wanted} is set up for a managed identity, which only Azure has. ` +
          `Set ${wanted} to a connection string for local work.`
      : `There is no storage connection: set ${wanted} to a connection string.`,
  );
}
