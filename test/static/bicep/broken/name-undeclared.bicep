// expect: name "locatoin" is not declared
@description('Required. Azure region.')
param location string

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'id'
  location: empty(location) ? locatoin : location
}
