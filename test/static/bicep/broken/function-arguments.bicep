// expect: function "toLower" takes another number
@description('Required. Azure region.')
param location string

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: toLower(location, location)
  location: location
}
