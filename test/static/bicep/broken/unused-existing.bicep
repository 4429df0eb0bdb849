// expect: unused existing resource "plan" is not used
@description('Required. Azure region.')
param location string

resource plan 'Microsoft.Web/serverfarms@2024-11-01' existing = {
  name: 'plan'
}

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'id'
  location: location
}
