metadata name = 'Roles'
metadata description = 'What the identity may do outside the database; inside, see TaskgateWorker.'

@description('Required. Object id of the identity.')
param principalId string

@description('Required. Name of the storage account of the function app.')
param storageAccountName string

@description('Required. Name of the container with the deployment package.')
param packageContainerName string

@description('Required. Names of the containers of the host.')
param hostContainerNames array

@description('Required. Name of the Application Insights component.')
param componentName string

// Built-in roles, the same ids in every tenant.
var roleIds = {
  reader: 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
  storageBlobDataContributor: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
  storageBlobDataOwner: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
  storageQueueDataContributor: '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
  storageTableDataContributor: '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
  monitoringMetricsPublisher: '3913510d-42f4-4e42-8a64-420c390055eb'
}

resource account 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: storageAccountName
}

resource component 'Microsoft.Insights/components@2020-02-02' existing = {
  name: componentName
}

resource blobService 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' existing = {
  parent: account
  name: 'default'
}

resource hostContainers 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' existing = [
  for containerName in hostContainerNames: {
    parent: blobService
    name: containerName
  }
]

resource packageContainer 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' existing = {
  parent: blobService
  name: packageContainerName
}

// Leases of the host and of each timer, and the host's keys: no other blob in the account.
resource blobOwner 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (containerName, i) in hostContainerNames: {
    name: guid(hostContainers[i].id, principalId, roleIds.storageBlobDataOwner)
    scope: hostContainers[i]
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleIds.storageBlobDataOwner)
    }
  }
]

// The host lists the account's containers every 30 s to know whether its storage answers, and calls itself unhealthy where
// it may not. Reading names is a right of the account, not of its data: this role reads no blob and no key.
resource accountReader 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(account.id, principalId, roleIds.reader)
  scope: account
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleIds.reader)
  }
}

// A deployment writes the package as this identity: functionAppConfig.deployment.storage. So the app could, too.
resource packageContributor 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(packageContainer.id, principalId, roleIds.storageBlobDataContributor)
  scope: packageContainer
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId(
      'Microsoft.Authorization/roleDefinitions',
      roleIds.storageBlobDataContributor
    )
  }
}

// Triggers, hints, and the poison queues.
resource queueContributor 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(account.id, principalId, roleIds.storageQueueDataContributor)
  scope: account
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId(
      'Microsoft.Authorization/roleDefinitions',
      roleIds.storageQueueDataContributor
    )
  }
}

// Diagnostic events of the Functions host.
resource tableContributor 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(account.id, principalId, roleIds.storageTableDataContributor)
  scope: account
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId(
      'Microsoft.Authorization/roleDefinitions',
      roleIds.storageTableDataContributor
    )
  }
}

// Telemetry, as local authentication of the component is off.
resource metricsPublisher 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(component.id, principalId, roleIds.monitoringMetricsPublisher)
  scope: component
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId(
      'Microsoft.Authorization/roleDefinitions',
      roleIds.monitoringMetricsPublisher
    )
  }
}
