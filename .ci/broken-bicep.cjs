// What the real compiler must refuse, by its own code: shipped files of infra/, each with one text replaced by another.
"use strict";

/** [the code that the compiler must name, a file below infra/, a text in it, what stands there instead] */
module.exports = [
  // What stopped the first deployment: a loop variable is no resource id to the linter.
  [
    "use-resource-id-functions",
    "modules/network.bicep",
    "endpoint.group == 'sqlServer' ? sqlServerId : storageAccountId",
    "endpoint.group",
  ],
  // Syntax.
  ["BCP007", "modules/identity.bicep", "\nparam name string", "\nparm name string"],
  ["BCP018", "modules/identity.bicep", "@2024-11-30' = {", "@2024-11-30' {"],
  ["BCP018", "modules/identity.bicep", "  tags: tags\n}", "  tags: tags\n"],
  ["BCP004", "modules/identity.bicep", "= 'Identity'", "= 'Identity"],
  ["BCP236", "modules/identity.bicep", "location: location\n", "location: location "],
  ["BCP064", "modules/storage.bicep", "${packageContainer.name}'", "${packageContainer.name'"],
  // Names.
  ["BCP057", "modules/identity.bicep", "location: location", "location: locaton"],
  ["BCP082", "main.bicep", "uniqueString(", "uniqeString("],
  ["BCP071", "main.bicep", "empty(sqlAdminObjectId)", "empty(sqlAdminObjectId, 1)"],
  ["BCP028", "modules/monitoring.bicep", "resource component ", "resource workspace "],
  // Types.
  ["BCP033", "main.bicep", "param sqlMaxSizeGb int = 32", "param sqlMaxSizeGb int = '32'"],
  [
    "BCP033",
    "main.bicep",
    "param sqlAdminType string = 'User'",
    "param sqlAdminType string = 'Usr'",
  ],
  ["BCP033", "modules/identity.bicep", "output name string = ", "output name int = "],
  ["BCP036", "modules/identity.bicep", "name: name", "name: 42"],
  ["BCP036", "modules/storage.bicep", "publicAccess: 'None'", "publicAccess: 1"],
  ["BCP036", "modules/storage.bicep", "allowSharedKeyAccess: false", "allowSharedKeyAccess: 'no'"],
  ["BCP137", "modules/storage.bicep", "in queueNames:", "in name:"],
  // Properties of resources: the compiler only warns of most.
  ["BCP089", "modules/functions.bicep", "maximumInstanceCount:", "maximumInstanceCout:"],
  ["BCP089", "modules/sql.bicep", "tenantId:", "tenantID:"],
  ["BCP035", "modules/identity.bicep", "  location: location\n", ""],
  ["BCP025", "modules/identity.bicep", "  tags: tags\n", "  tags: tags\n  tags: tags\n"],
  [
    "BCP073",
    "modules/storage.bicep",
    "accessTier: 'Hot'",
    "accessTier: 'Hot'\n    primaryEndpoints: {}",
  ],
  ["BCP083", "modules/identity.bicep", "properties.clientId", "properties.clientID"],
  ["BCP081", "modules/storage.bicep", "storageAccounts@2025-01-01", "storageAcounts@2025-01-01"],
  ["BCP081", "modules/storage.bicep", "storageAccounts@2025-01-01", "storageAccounts@2025-13-01"],
  [
    "BCP169",
    "modules/storage.bicep",
    "  parent: account\n  name: 'default'\n}",
    "  name: 'default'\n}",
  ],
  ["BCP036", "modules/storage.bicep", "parent: queueService", "parent: account"],
  [
    "BCP135",
    "modules/identity.bicep",
    "\nparam name",
    "\ntargetScope = 'subscription'\nparam name",
  ],
  // Modules.
  ["BCP091", "main.bicep", "'modules/identity.bicep'", "'modules/identitty.bicep'"],
  ["BCP190", "main.bicep", "'modules/identity.bicep'", "'br/public:avm/res/identity:0.4.1'"],
  ["BCP035", "main.bicep", "    componentName: monitoring.outputs.componentName\n", ""],
  ["BCP037", "main.bicep", "    retentionDays:", "    colour: location\n    retentionDays:"],
  ["BCP036", "main.bicep", "name: 'id-${suffix}'", "name: 7"],
  ["BCP053", "main.bicep", "identity.outputs.principalId", "identity.outputs.objectId"],
  ["BCP134", "main.bicep", "  scope: group\n", ""],
  // Rules of infra/bicepconfig.json.
  ["no-unused-params", "modules/identity.bicep", "location: location", "location: 'global'"],
  ["no-unused-vars", "modules/storage.bicep", "\nvar ", "\nvar spare = 1\nvar "],
  ["no-unused-existing-resources", "modules/sql.bicep", "scope: master", "scope: database"],
  [
    "no-hardcoded-location",
    "modules/identity.bicep",
    "location: location",
    "location: 'westeurope'",
  ],
  [
    "no-hardcoded-env-urls",
    "modules/network.bicep",
    "${environment().suffixes.sqlServerHostname}",
    ".database.windows.net",
  ],
  ["no-unnecessary-dependson", "main.bicep", "    roles\n  ]", "    roles\n    identity\n  ]"],
  [
    "prefer-interpolation",
    "modules/functions.bicep",
    "'https://${app.properties.defaultHostName}'",
    "concat('https://', app.properties.defaultHostName)",
  ],
  ["simplify-interpolation", "modules/identity.bicep", "name: name", "name: '${name}'"],
  ["prefer-unquoted-property-names", "modules/identity.bicep", "  tags: tags", "  'tags': tags"],
  [
    "outputs-should-not-contain-secrets",
    "modules/storage.bicep",
    "output name string = account.name",
    "output name string = account.listKeys().keys[0].value",
  ],
  [
    "use-secure-value-for-secure-inputs",
    "modules/sql.bicep",
    "    minimalTlsVersion:",
    "    administratorLoginPassword: adminName\n    minimalTlsVersion:",
  ],
  // Parameter files.
  ["BCP004", "env/dev.bicepparam", "networkMode = 'public'", "networkMode = 'public"],
  ["BCP033", "env/dev.bicepparam", "networkMode = 'public'", "networkMode = 'publik'"],
  ["BCP033", "env/dev.bicepparam", "sqlVCores = 1", "sqlVCores = '1'"],
  ["BCP258", "env/dev.bicepparam", "param networkMode = 'public'\n", ""],
  ["BCP259", "env/dev.bicepparam", "sqlVCores = 1", "sqlVCores = 1\nparam colour = 'red'"],
  ["BCP091", "env/dev.bicepparam", "'../main.bicep'", "'../man.bicep'"],
  ["BCP427", "env/dev.bicepparam", "'SQL_CLIENT_IP', ''", "'TASKGATE_NEVER_SET'"],
];
