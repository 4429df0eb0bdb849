// expect: function "uniqeString" is not a known function
@description('Required. Azure region.')
param location string

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: uniqeString(location)
  location: location
}
