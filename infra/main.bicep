targetScope = 'subscription'

metadata name = 'Taskgate'
metadata description = 'Everything Taskgate needs in Azure, without a single key or password.'

@description('Required. Name of the environment, part of names and tags.')
@minLength(1)
@maxLength(40)
param environmentName string

@description('Required. Azure region of all resources.')
@minLength(1)
param location string

// Public: SQL admits Azure addresses, storage all, and Entra sign-in protects both.
// Private: storage, SQL and the API are reached through private endpoints.
@description('Required. Whether storage, SQL and the API have public addresses.')
@allowed([
  'private'
  'public'
])
param networkMode string

@description('Conditional. Address range of the virtual network, used if networkMode is private.')
param networkAddressPrefix string = '10.40.0.0/24'

@description('Optional. IPv4 address that may reach SQL, to run migrations from; empty: none.')
param sqlClientIpAddress string = ''

// Azure SQL: the sid is the object id of a user or a group, and the client id of an application.
@description('Optional. Object id of the Entra administrator of SQL, of an application its client id; empty for whoever deploys.')
param sqlAdminObjectId string = ''

@description('Optional. Display name of the Entra administrator of SQL.')
param sqlAdminName string = 'taskgate-sql-admin'

@description('Optional. Kind of the Entra administrator of SQL; a pipeline is an Application.')
@allowed([
  'Application'
  'Group'
  'User'
])
param sqlAdminType string = 'User'

@description('Required. Compute family and model of the database; GP_S_Gen5 is serverless.')
@allowed([
  'BC_Gen5'
  'GP_Gen5'
  'GP_S_Gen5'
])
param sqlSkuName string

@description('Required. Virtual cores of the database (the most of them, when serverless).')
param sqlVCores int

@description('Optional. Fewest virtual cores of a serverless database, as text, for example 0.5.')
param sqlVCoresMin string = '0.5'

@description('Optional. Idle minutes after which a serverless database pauses; -1 for never.')
param sqlAutoPauseMinutes int = -1

@description('Optional. True: free offer of Azure SQL, pausing when used up. Serverless only.')
param sqlUsesFreeOffer bool = false

@description('Optional. Largest size of the data in gigabytes.')
param sqlMaxSizeGb int = 32

@description('Optional. Where database backups are kept.')
@allowed([
  'Geo'
  'GeoZone'
  'Local'
  'Zone'
])
param sqlBackupRedundancy string = 'Local'

@description('Optional. Days for which any point in time can be restored.')
param sqlBackupRetentionDays int = 7

@description('Required. Memory of a function instance in megabytes.')
@allowed([
  512
  2048
  4096
])
param instanceMemoryMb int

// Look at the capacity table in infra/README.md before raising it.
@description('Required. Most on-demand instances of each function group.')
param instanceCountMax int

@description('Optional. Instances that always run: name (http or function:NAME), instanceCount.')
param alwaysReady array = []

// Rare ticks let a serverless database pause; hints do the punctual work.
@description('Optional. Schedule of function sweep: six NCRONTAB fields, UTC.')
param sweepSchedule string = '*/30 * * * * *'

// Keys: a holder of a function key may call all routes. Entra: app roles Taskgate.Reader, Taskgate.Payloads and Taskgate.Operator.
@description('Optional. How callers of the API are known.')
@allowed([
  'entra'
  'keys'
])
param apiSignIn string = 'keys'

@description('Conditional. Client id of the app registration callers sign in to, if apiSignIn is entra.')
param apiEntraClientId string = ''

// The sign-in stands before the whole app. These paths, and those below them, are as they are without it.
@description('Conditional. Paths of own routes without a sign-in, such as /api/notify, if apiSignIn is entra.')
param openPaths array = []

// An address or a range, as 203.0.113.7 or 203.0.113.0/24. Deployments come in by the same addresses.
@description('Optional. Who may reach the API; empty: everybody if public, the network alone if private.')
param apiAllowedAddresses array = []

// Reading and enqueueing need only TaskgateWorker; these routes change limits, pause, cancel, redrive.
@description('Optional. On: the app has the HTTP routes of operators, and its identity that role.')
@allowed([
  'off'
  'on'
])
param operatorApi string = 'on'

@description('Optional. Redundancy of the storage account.')
@allowed([
  'Standard_LRS'
  'Standard_ZRS'
])
param storageSkuName string = 'Standard_LRS'

@description('Optional. Days that logs are kept.')
param logRetentionDays int = 30

@description('Optional. Gigabytes of logs a day until ingestion stops for the day; -1: no cap.')
param logDailyQuotaGb int = -1

@description('Optional. True: create alert rules, which expect a sweep every five minutes.')
param hasAlerts bool = false

@description('Optional. E-mail addresses that alerts are sent to.')
param alertEmailAddresses array = []

var token = uniqueString(subscription().id, environmentName, location)
var suffix = 'taskgate-${token}'
var tags = {
  app: 'taskgate'
  'azd-env-name': environmentName
  'managed-by': 'bicep'
}
var isPrivate = networkMode == 'private'
// Of the Functions host: its leases and those of its timers, and its keys.
var hostContainerNames = [
  'azure-webjobs-hosts'
  'azure-webjobs-secrets'
]
var packageContainerName = 'app-package'
var lacksClientId = apiSignIn == 'entra' && empty(apiEntraClientId)
// First parts of the routes of API and dashboard; an app that gives gate.api another prefix than taskgate adds it.
var apiParts = [
  'audit'
  'batches'
  'dashboard'
  'definitions'
  'executions'
  'failures'
  'groups'
  'openapi.json'
  'results'
  'resume'
  'schedules'
  'shared-limits'
  'statistics'
  'status'
  'stop'
  'taskgate'
  'tasks'
  'watermarks'
]
// Paths that may open routes of the API. How App Service compares is not documented, so a part of a name counts, too.
var wrongPaths = filter(
  openPaths,
  path =>
    !startsWith(path, '/api/') || !empty(filter(['*', '%', '..', '\\'], text => contains(path, text))) || !empty(filter(
      apiParts,
      part => startsWith(part, toLower(split('${path}//', '/')[2]))
    ))
)
// The names the code listens to, each with the queue that takes messages which failed too often.
var queueNames = [
  'taskgate-hints'
  'taskgate-hints-poison'
  'taskgate-ingest'
  'taskgate-ingest-poison'
]

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: 'rg-taskgate-${environmentName}'
  location: location
  tags: tags
}

module monitoring 'modules/monitoring.bicep' = {
  name: 'monitoring'
  scope: group
  params: {
    workspaceName: 'log-${suffix}'
    componentName: 'appi-${suffix}'
    location: location
    tags: tags
    retentionDays: logRetentionDays
    dailyQuotaGb: logDailyQuotaGb
  }
}

module identity 'modules/identity.bicep' = {
  name: 'identity'
  scope: group
  params: {
    name: 'id-${suffix}'
    location: location
    tags: tags
  }
}

module storage 'modules/storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    name: 'st${token}'
    location: location
    tags: tags
    skuName: storageSkuName
    isPrivate: isPrivate
    packageContainerName: packageContainerName
    hostContainerNames: hostContainerNames
    queueNames: queueNames
  }
}

module sql 'modules/sql.bicep' = {
  name: 'sql'
  scope: group
  params: {
    serverName: 'sql-${suffix}'
    databaseName: 'taskgate'
    location: location
    tags: tags
    // Of an application SQL wants the client id, which deployer() doesn't know.
    adminObjectId: !empty(sqlAdminObjectId)
      ? sqlAdminObjectId
      : sqlAdminType == 'Application'
          ? fail('sqlAdminObjectId: expected the client id of the application with sqlAdminType Application (SQL_ADMIN_OBJECT_ID)')
          : deployer().objectId
    adminName: sqlAdminName
    adminType: sqlAdminType
    skuName: sqlSkuName
    vCores: sqlVCores
    vCoresMin: sqlVCoresMin
    autoPauseMinutes: sqlAutoPauseMinutes
    usesFreeOffer: sqlUsesFreeOffer
    maxSizeGb: sqlMaxSizeGb
    backupRedundancy: sqlBackupRedundancy
    backupRetentionDays: sqlBackupRetentionDays
    isPrivate: isPrivate
    clientIpAddress: sqlClientIpAddress
    workspaceId: monitoring.outputs.workspaceId
  }
}

module network 'modules/network.bicep' = if (isPrivate) {
  name: 'network'
  scope: group
  params: {
    name: 'vnet-${suffix}'
    location: location
    tags: tags
    addressPrefix: networkAddressPrefix
    storageAccountId: storage.outputs.resourceId
    sqlServerId: sql.outputs.serverId
  }
}

module roles 'modules/roles.bicep' = {
  name: 'roles'
  scope: group
  params: {
    principalId: identity.outputs.principalId
    storageAccountName: storage.outputs.name
    packageContainerName: packageContainerName
    hostContainerNames: hostContainerNames
    componentName: monitoring.outputs.componentName
  }
}

module functions 'modules/functions.bicep' = {
  name: 'functions'
  scope: group
  params: {
    planName: 'plan-${suffix}'
    appName: 'func-${suffix}'
    location: location
    tags: tags
    identityId: identity.outputs.resourceId
    identityClientId: identity.outputs.clientId
    packageContainerUrl: storage.outputs.packageContainerUrl
    storageAccountName: storage.outputs.name
    blobEndpoint: storage.outputs.blobEndpoint
    queueEndpoint: storage.outputs.queueEndpoint
    tableEndpoint: storage.outputs.tableEndpoint
    insightsConnectionString: monitoring.outputs.connectionString
    traceUrl: monitoring.outputs.traceUrl
    sqlServerFqdn: sql.outputs.serverFqdn
    sqlDatabaseName: sql.outputs.databaseName
    sweepSchedule: sweepSchedule
    operatorApi: operatorApi
    apiSignIn: apiSignIn
    apiEntraClientId: lacksClientId
      ? fail('apiEntraClientId: expected a client id with apiSignIn entra (API_ENTRA_CLIENT_ID)')
      : apiEntraClientId
    openPaths: empty(wrongPaths)
      ? openPaths
      : fail('openPaths: expected paths of own routes such as /api/notify, got ${join(wrongPaths, ' ')} (API_OPEN_PATHS)')
    apiAllowedAddresses: [
      for address in apiAllowedAddresses: contains(address, '/')
        ? trim(address)
        : '${trim(address)}${contains(address, ':') ? '/128' : '/32'}'
    ]
    isPrivate: isPrivate
    instanceMemoryMb: instanceMemoryMb
    instanceCountMax: instanceCountMax
    alwaysReady: alwaysReady
    subnetId: isPrivate ? network!.outputs.appSubnetId : ''
  }
  // The host reads its storage at its first start: rights come first.
  dependsOn: [
    roles
  ]
}

module apiEndpoint 'modules/api-endpoint.bicep' = if (isPrivate) {
  name: 'apiEndpoint'
  scope: group
  params: {
    networkName: network!.outputs.name
    networkId: network!.outputs.resourceId
    subnetId: network!.outputs.endpointSubnetId
    location: location
    tags: tags
    appId: functions.outputs.resourceId
  }
}

module alerts 'modules/alerts.bicep' = if (hasAlerts) {
  name: 'alerts'
  scope: group
  params: {
    namePrefix: 'taskgate-${environmentName}'
    location: location
    tags: tags
    workspaceId: monitoring.outputs.workspaceId
    databaseId: sql.outputs.databaseId
    emailAddresses: alertEmailAddresses
  }
}

// azd keeps outputs as environment variables. Only names that the program itself knows as settings
// may start with TASKGATE_, because it refuses unknown ones.
@description('Azure region.')
output AZURE_LOCATION string = location

@description('Name of the resource group.')
output AZURE_RESOURCE_GROUP string = group.name

@description('Host name of the SQL server.')
output TASKGATE_SQL_SERVER string = sql.outputs.serverFqdn

@description('Resource id of the SQL server: its firewall is opened while migrations run.')
output SQL_SERVER_ID string = sql.outputs.serverId

@description('Whether SQL has a public address that the firewall could admit others to.')
output NETWORK_MODE string = networkMode

@description('On: the identity is to be an operator.')
output OPERATOR_API string = operatorApi

@description('Entra: whoever calls the API signs in.')
output API_SIGN_IN string = apiSignIn

@description('Name of the database.')
output TASKGATE_SQL_DATABASE string = sql.outputs.databaseName

@description('Name of the identity: the name of the database user.')
output WORKER_IDENTITY_NAME string = identity.outputs.name

@description('Client id of the identity: what the database user is recognised by.')
output WORKER_IDENTITY_CLIENT_ID string = identity.outputs.clientId

@description('Name of the function app.')
output WORKER_NAME string = functions.outputs.name

@description('Address of the function app.')
output WORKER_URL string = functions.outputs.url
