// expect: module scope is missing
targetScope = 'subscription'

@description('Required. Azure region.')
param location string

module identity 'modules/identity.bicep' = {
  name: 'identity'
  params: {
    name: 'id'
    location: location
  }
}

@description('Client id of the identity.')
output clientId string = identity.outputs.clientId
