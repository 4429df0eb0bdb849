// expect: property did you mean "tenantId"?
@description('Required. Azure region.')
param location string

@description('Required. Object id of the administrator.')
param adminObjectId string

resource server 'Microsoft.Sql/servers@2023-08-01' = {
  name: 'sql'
  location: location
  properties: {
    administrators: {
      azureADOnlyAuthentication: true
      sid: adminObjectId
      tenantID: tenant().tenantId
    }
    minimalTlsVersion: '1.2'
  }
}
