using '../main.bicep'

// Cheap: free offer of Azure SQL, which pauses after 15 idle minutes. The sweep runs every six
// hours, because each tick keeps the database awake; hints wake workers in between.
param environmentName = readEnvironmentVariable('AZURE_ENV_NAME', 'dev')
param location = readEnvironmentVariable('AZURE_LOCATION', 'northeurope')
param networkMode = 'public'
param sqlClientIpAddress = readEnvironmentVariable('SQL_CLIENT_IP', '')
param sqlAdminObjectId = readEnvironmentVariable('SQL_ADMIN_OBJECT_ID', '')
param sqlAdminName = readEnvironmentVariable('SQL_ADMIN_NAME', 'taskgate-sql-admin')
param sqlAdminType = readEnvironmentVariable('SQL_ADMIN_TYPE', 'User')
param sqlSkuName = 'GP_S_Gen5'
param sqlVCores = 1
param sqlVCoresMin = '0.5'
param sqlAutoPauseMinutes = 15
param sqlUsesFreeOffer = readEnvironmentVariable('SQL_FREE_OFFER', 'true') == 'true'
param sqlMaxSizeGb = 32
param sqlBackupRedundancy = 'Local'
param sqlBackupRetentionDays = 7
param instanceMemoryMb = 2048
param instanceCountMax = 5
param sweepSchedule = '0 0 */6 * * *'
param apiSignIn = readEnvironmentVariable('API_SIGN_IN', 'keys')
param apiEntraClientId = readEnvironmentVariable('API_ENTRA_CLIENT_ID', '')
param openPaths = filter(split(readEnvironmentVariable('API_OPEN_PATHS', ''), ','), path => !empty(path))
param apiAllowedAddresses = filter(
  split(readEnvironmentVariable('API_ALLOWED_ADDRESSES', ''), ','),
  address => !empty(address)
)
param operatorApi = readEnvironmentVariable('OPERATOR_API', 'on')
param storageSkuName = 'Standard_LRS'
param logRetentionDays = 30
param logDailyQuotaGb = 1
