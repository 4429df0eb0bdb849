import type { SchemaScripts } from "../../shared/store/migrator";

/** The scripts and one more migration. */
export function withMigration(scripts: SchemaScripts, text: string): SchemaScripts {
  const version = scripts.migrations.length + 1;
  const more = { version, name: "more", checksum: `of ${text}`, clientVersionMin: "0.0.0", text };
  return { ...scripts, migrations: [...scripts.migrations, more] };
}
