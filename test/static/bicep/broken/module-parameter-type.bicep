// expect: type int where string
@description('Required. Azure region.')
param location string

module identity 'modules/identity.bicep' = {
  name: 'identity'
  params: {
    name: 7
    location: location
  }
}

@description('Client id of the identity.')
output clientId string = identity.outputs.clientId
