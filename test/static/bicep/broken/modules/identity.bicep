metadata description = 'Whole and right: the broken samples beside this folder point at it.'

@description('Required. Name of the identity.')
param name string

@description('Optional. Azure region.')
param location string = resourceGroup().location

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
}

@description('Client id of the identity.')
output clientId string = identity.properties.clientId
