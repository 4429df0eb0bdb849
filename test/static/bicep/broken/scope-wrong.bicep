// expect: scope needs a file with targetScope 'subscription'
@description('Required. Azure region.')
param location string

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: 'rg'
  location: location
}
