// expect: unused variable "prefix" is not used
@description('Required. Azure region.')
param location string

var prefix = 'id'

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'id'
  location: location
}
