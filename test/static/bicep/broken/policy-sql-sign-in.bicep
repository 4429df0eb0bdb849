// expect: policy azureADOnlyAuthentication must be true
@description('Required. Azure region.')
param location string

resource server 'Microsoft.Sql/servers@2023-08-01' = {
  name: 'sql'
  location: location
  properties: {
    administrators: {
      azureADOnlyAuthentication: false
    }
    minimalTlsVersion: '1.2'
  }
}
