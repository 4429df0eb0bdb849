// expect: policy principalType must be 'ServicePrincipal'
@description('Required. Object id of the identity.')
param principalId string

var roleIds = {
  storageBlobDataOwner: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
  storageQueueDataContributor: '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
}

resource account 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: 'account'
}

resource assignment 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(account.id, principalId, roleIds.storageBlobDataOwner)
  scope: account
  properties: {
    principalId: principalId
    principalType: 'User'
    roleDefinitionId: subscriptionResourceId(
      'Microsoft.Authorization/roleDefinitions',
      roleIds.storageBlobDataOwner
    )
  }
}
