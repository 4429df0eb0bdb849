// expect: property has no "maximumInstanceCout"
@description('Required. Azure region.')
param location string

resource app 'Microsoft.Web/sites@2024-11-01' existing = {
  name: 'app'
}

var scale = {
  maximumInstanceCout: 5
}

resource plan 'Microsoft.Web/serverfarms@2024-11-01' = {
  name: '${app.name}-plan'
  location: location
  properties: scale
}
