// expect: type string where int
@description('Required. Azure region.')
param location string

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'id'
  location: location
}

@description('Name of the identity.')
output name int = identity.name
