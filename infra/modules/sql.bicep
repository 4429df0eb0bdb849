metadata name = 'SQL'
metadata description = 'Server with Entra-only sign-in, database, firewall, backups, auditing.'

@description('Required. Name of the logical server.')
param serverName string

@description('Required. Name of the database.')
param databaseName string

@description('Required. Azure region.')
param location string

@description('Required. Tags of server and database.')
param tags object

// Best a group: the principal that deploys, and the people who operate.
@description('Required. Object id of the Entra administrator; of an application its client id.')
param adminObjectId string

@description('Required. Display name of the Entra administrator.')
param adminName string

@description('Required. Kind of the Entra administrator.')
@allowed([
  'Application'
  'Group'
  'User'
])
param adminType string

@description('Required. Compute family and model; GP_S_Gen5 is serverless.')
@allowed([
  'BC_Gen5'
  'GP_Gen5'
  'GP_S_Gen5'
])
param skuName string

@description('Required. Number of virtual cores (the most of them, when serverless).')
@minValue(1)
@maxValue(80)
param vCores int

// Text, because Bicep has no decimals.
@description('Required. Fewest virtual cores of a serverless database, for example 0.5.')
param vCoresMin string

@description('Required. Idle minutes after which a serverless database pauses; -1: never.')
@minValue(-1)
@maxValue(10080)
param autoPauseMinutes int

@description('Required. True: free offer of Azure SQL, pausing when used up. Serverless only.')
param usesFreeOffer bool

@description('Required. Largest size of the data in gigabytes.')
@minValue(1)
@maxValue(4096)
param maxSizeGb int

@description('Required. Where backups are kept.')
@allowed([
  'Geo'
  'GeoZone'
  'Local'
  'Zone'
])
param backupRedundancy string

@description('Required. Days for which any point in time can be restored.')
@minValue(1)
@maxValue(35)
param backupRetentionDays int

@description('Required. True: reached through a private endpoint, and from clientIpAddress.')
param isPrivate bool

@description('Required. One IPv4 address let in from outside; empty for none.')
param clientIpAddress string

@description('Required. Resource id of the Log Analytics workspace for audit and diagnostics.')
param workspaceId string

var hasClient = !empty(clientIpAddress)
var isServerless = skuName == 'GP_S_Gen5'
var serverlessProperties = {
  autoPauseDelay: autoPauseMinutes
  minCapacity: json(vCoresMin)
}
var freeOfferProperties = {
  useFreeLimit: true
  freeLimitExhaustionBehavior: 'AutoPause'
}
var bytesPerGb = 1073741824

resource server 'Microsoft.Sql/servers@2025-01-01' = {
  name: serverName
  location: location
  tags: tags
  properties: {
    administrators: {
      administratorType: 'ActiveDirectory'
      azureADOnlyAuthentication: true
      login: adminName
      principalType: adminType
      sid: adminObjectId
      tenantId: tenant().tenantId
    }
    minimalTlsVersion: '1.2'
    publicNetworkAccess: isPrivate && !hasClient ? 'Disabled' : 'Enabled'
  }
}

resource database 'Microsoft.Sql/servers/databases@2023-08-01' = {
  parent: server
  name: databaseName
  location: location
  tags: tags
  sku: {
    name: skuName
    tier: skuName == 'BC_Gen5' ? 'BusinessCritical' : 'GeneralPurpose'
    family: 'Gen5'
    capacity: vCores
  }
  properties: union(
    {
      maxSizeBytes: maxSizeGb * bytesPerGb
      requestedBackupStorageRedundancy: backupRedundancy
    },
    isServerless ? serverlessProperties : {},
    isServerless && usesFreeOffer ? freeOfferProperties : {}
  )
}

// 0.0.0.0 stands for "addresses of Azure", of every tenant: the only protection behind it is the Entra
// sign-in. Good enough for development; production uses the private network.
resource allowAzure 'Microsoft.Sql/servers/firewallRules@2023-08-01' = if (!isPrivate) {
  parent: server
  name: 'AllowAllWindowsAzureIps'
  properties: {
    startIpAddress: '0.0.0.0'
    endIpAddress: '0.0.0.0'
  }
}

resource allowClient 'Microsoft.Sql/servers/firewallRules@2023-08-01' = if (hasClient) {
  parent: server
  name: 'Client'
  properties: {
    startIpAddress: clientIpAddress
    endIpAddress: clientIpAddress
  }
}

resource backups 'Microsoft.Sql/servers/databases/backupShortTermRetentionPolicies@2023-08-01' = {
  parent: database
  name: 'default'
  properties: {
    retentionDays: backupRetentionDays
    diffBackupIntervalInHours: 24
  }
}

// The default group of actions logs every batch: for a task queue that is every claim. Only
// sign-ins, permissions and schema changes are worth their price here.
resource auditing 'Microsoft.Sql/servers/auditingSettings@2023-08-01' = {
  parent: server
  name: 'default'
  properties: {
    state: 'Enabled'
    isAzureMonitorTargetEnabled: true
    auditActionsAndGroups: [
      'DATABASE_PERMISSION_CHANGE_GROUP'
      'FAILED_DATABASE_AUTHENTICATION_GROUP'
      'SCHEMA_OBJECT_CHANGE_GROUP'
      'SUCCESSFUL_DATABASE_AUTHENTICATION_GROUP'
    ]
  }
}

resource master 'Microsoft.Sql/servers/databases@2023-08-01' existing = {
  parent: server
  name: 'master'
}

// Server auditing reaches Log Analytics through this setting on master; both are needed. There is
// no released API version of this type, only previews.
resource auditLog 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'audit'
  scope: master
  properties: {
    workspaceId: workspaceId
    logs: [
      {
        category: 'SQLSecurityAuditEvents'
        enabled: true
      }
    ]
  }
  dependsOn: [
    auditing
  ]
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'diagnostics'
  scope: database
  properties: {
    workspaceId: workspaceId
    logs: [
      {
        category: 'Errors'
        enabled: true
      }
      {
        category: 'Timeouts'
        enabled: true
      }
      {
        category: 'Blocks'
        enabled: true
      }
      {
        category: 'Deadlocks'
        enabled: true
      }
    ]
    metrics: [
      {
        category: 'Basic'
        enabled: true
      }
    ]
  }
}

@description('Resource id of the server.')
output serverId string = server.id

@description('Resource id of the database.')
output databaseId string = database.id

@description('Host name of the server.')
output serverFqdn string = server.properties.fullyQualifiedDomainName

@description('Name of the database.')
output databaseName string = database.name
