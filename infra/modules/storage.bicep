metadata name = 'Storage'
metadata description = 'Storage account of the function app: host state, package, queues; no keys.'

@description('Required. Name of the storage account, 3 to 24 lower-case letters and digits.')
@minLength(3)
@maxLength(24)
param name string

@description('Required. Azure region.')
param location string

@description('Required. Tags of the account.')
param tags object

@description('Required. Redundancy of the account.')
@allowed([
  'Standard_LRS'
  'Standard_ZRS'
])
param skuName string

@description('Required. True: reachable through private endpoints only.')
param isPrivate bool

// The host would create missing ones; made here they can be watched from the first minute.
@description('Required. Names of the queues.')
param queueNames array

@description('Required. Name of the container with the deployment package.')
param packageContainerName string

// The host would create these, too; made here, its identity needs no right to make containers.
@description('Required. Names of the containers of the host: leases of it and its timers, keys.')
param hostContainerNames array

var endpoints = account.properties.primaryEndpoints

resource account 'Microsoft.Storage/storageAccounts@2025-01-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: {
    name: skuName
  }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'
    networkAcls: {
      bypass: isPrivate ? 'None' : 'AzureServices'
      defaultAction: isPrivate ? 'Deny' : 'Allow'
    }
  }
}

resource blobService 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {
    deleteRetentionPolicy: {
      enabled: true
      days: 7
    }
  }
}

resource packageContainer 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = {
  parent: blobService
  name: packageContainerName
  properties: {
    publicAccess: 'None'
  }
}

resource hostContainers 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = [
  for containerName in hostContainerNames: {
    parent: blobService
    name: containerName
    properties: {
      publicAccess: 'None'
    }
  }
]

resource queueService 'Microsoft.Storage/storageAccounts/queueServices@2025-01-01' = {
  parent: account
  name: 'default'
}

resource queues 'Microsoft.Storage/storageAccounts/queueServices/queues@2025-01-01' = [
  for queueName in queueNames: {
    parent: queueService
    name: queueName
  }
]

@description('Resource id of the account.')
output resourceId string = account.id

@description('Name of the account.')
output name string = account.name

@description('Blob endpoint, ends with a slash.')
output blobEndpoint string = endpoints.blob

@description('Queue endpoint, ends with a slash.')
output queueEndpoint string = endpoints.queue

@description('Table endpoint, ends with a slash.')
output tableEndpoint string = endpoints.table

@description('Address of the container with the deployment package.')
output packageContainerUrl string = '${endpoints.blob}${packageContainer.name}'
