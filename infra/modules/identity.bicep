metadata name = 'Identity'
metadata description = 'The one user-assigned identity of the function app.'

@description('Required. Name of the identity; also the name of the database user.')
param name string

@description('Required. Azure region.')
param location string

@description('Required. Tags of the identity.')
param tags object

// User-assigned, not system-assigned: role assignments and the database user can exist before
// the app does, and they survive when the app is created anew.
resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

@description('Resource id of the identity.')
output resourceId string = identity.id

@description('Name of the identity.')
output name string = identity.name

@description('Client id: what the app and the database user are known by.')
output clientId string = identity.properties.clientId

@description('Object id: what role assignments are made for.')
output principalId string = identity.properties.principalId
