// expect: secret "administratorLoginPassword" is a secret
@description('Required. Azure region.')
param location string

resource server 'Microsoft.Sql/servers@2023-08-01' = {
  name: 'sql'
  location: location
  properties: {
    administrators: {
      azureADOnlyAuthentication: true
    }
    administratorLoginPassword: uniqueString(location)
    minimalTlsVersion: '1.2'
  }
}
