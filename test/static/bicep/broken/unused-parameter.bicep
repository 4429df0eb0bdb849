// expect: unused parameter "region" is not used
@description('Required. Azure region.')
param location string

@description('Optional. Another region.')
param region string = location

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'id'
  location: location
}
