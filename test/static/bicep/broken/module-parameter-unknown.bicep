// expect: module has no parameter "locaton"
@description('Required. Azure region.')
param location string

module identity 'modules/identity.bicep' = {
  name: 'identity'
  params: {
    name: 'id'
    locaton: location
  }
}

@description('Client id of the identity.')
output clientId string = identity.outputs.clientId
