// expect: reference has no "clientID"
@description('Required. Azure region.')
param location string

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'id'
  location: location
}

@description('Client id of the identity.')
output clientId string = identity.properties.clientID
