using '../main.bicep'

// Private network, a database that never pauses, one warm worker, alerts. A load that is steady
// all day is cheaper on GP_Gen5 (no pause, no scaling) with the same number of cores.
param environmentName = readEnvironmentVariable('AZURE_ENV_NAME', 'prod')
param location = readEnvironmentVariable('AZURE_LOCATION', 'northeurope')
param networkMode = 'private'
param networkAddressPrefix = '10.40.0.0/24'
param sqlClientIpAddress = readEnvironmentVariable('SQL_CLIENT_IP', '')
param sqlAdminObjectId = readEnvironmentVariable('SQL_ADMIN_OBJECT_ID')
param sqlAdminName = readEnvironmentVariable('SQL_ADMIN_NAME')
param sqlAdminType = readEnvironmentVariable('SQL_ADMIN_TYPE', 'Group')
param sqlSkuName = 'GP_S_Gen5'
param sqlVCores = 4
param sqlVCoresMin = '1'
param sqlAutoPauseMinutes = -1
param sqlMaxSizeGb = 64
param sqlBackupRedundancy = 'Geo'
param sqlBackupRetentionDays = 14
param instanceMemoryMb = 2048
param instanceCountMax = 20
param alwaysReady = [
  {
    name: 'function:run'
    instanceCount: 1
  }
]
param sweepSchedule = '*/30 * * * * *'
param apiSignIn = readEnvironmentVariable('API_SIGN_IN', 'keys')
param apiEntraClientId = readEnvironmentVariable('API_ENTRA_CLIENT_ID', '')
param openPaths = filter(split(readEnvironmentVariable('API_OPEN_PATHS', ''), ','), path => !empty(path))
param apiAllowedAddresses = filter(
  split(readEnvironmentVariable('API_ALLOWED_ADDRESSES', ''), ','),
  address => !empty(address)
)
param operatorApi = readEnvironmentVariable('OPERATOR_API', 'on')
param storageSkuName = 'Standard_ZRS'
param logRetentionDays = 90
param logDailyQuotaGb = 5
param hasAlerts = true
param alertEmailAddresses = []
