// expect: module requires parameter "name"
@description('Required. Azure region.')
param location string

module identity 'modules/identity.bicep' = {
  name: 'identity'
  params: {
    location: location
  }
}

@description('Client id of the identity.')
output clientId string = identity.outputs.clientId
