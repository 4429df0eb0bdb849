// expect: module there is no file "modules/identitty.bicep"
@description('Required. Azure region.')
param location string

module identity 'modules/identitty.bicep' = {
  name: 'identity'
  params: {
    name: 'id'
    location: location
  }
}

@description('Client id of the identity.')
output clientId string = identity.outputs.clientId
