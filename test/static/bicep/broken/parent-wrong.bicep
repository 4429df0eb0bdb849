// expect: parent must be a Microsoft.Storage/storageAccounts/queueServices
@description('Required. Azure region.')
param location string

resource account 'Microsoft.Storage/storageAccounts@2025-01-01' = {
  name: 'st${uniqueString(resourceGroup().id)}'
  location: location
  kind: 'StorageV2'
  sku: {
    name: 'Standard_LRS'
  }
  properties: {
    allowBlobPublicAccess: false
    allowSharedKeyAccess: false
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
  }
}

resource queue 'Microsoft.Storage/storageAccounts/queueServices/queues@2025-01-01' = {
  parent: account
  name: 'taskgate-hints'
}
