// expect: settings the app lacks setting "TASKGATE_SQL_SERVER"
@description('Required. Azure region.')
param location string

@description('Required. Resource id of the plan.')
param planId string

@description('Required. Value of every setting.')
param value string

resource app 'Microsoft.Web/sites@2024-11-01' = {
  name: 'app'
  location: location
  kind: 'functionapp,linux'
  properties: {
    serverFarmId: planId
    httpsOnly: true
    siteConfig: {
      ftpsState: 'Disabled'
      minTlsVersion: '1.2'
      appSettings: [
        {
          name: 'APPLICATIONINSIGHTS_AUTHENTICATION_STRING'
          value: value
        }
        {
          name: 'APPLICATIONINSIGHTS_CONNECTION_STRING'
          value: value
        }
        {
          name: 'AZURE_CLIENT_ID'
          value: value
        }
        {
          name: 'AzureWebJobsStorage__blobServiceUri'
          value: value
        }
        {
          name: 'AzureWebJobsStorage__clientId'
          value: value
        }
        {
          name: 'AzureWebJobsStorage__credential'
          value: value
        }
        {
          name: 'AzureWebJobsStorage__queueServiceUri'
          value: value
        }
        {
          name: 'AzureWebJobsStorage__tableServiceUri'
          value: value
        }
        {
          name: 'TASKGATE_SQL_DATABASE'
          value: value
        }
        {
          name: 'TASKGATE_SWEEP_SCHEDULE'
          value: value
        }
      ]
    }
  }
}
