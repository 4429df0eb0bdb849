metadata name = 'Monitoring'
metadata description = 'Log Analytics workspace, and Application Insights writing to it.'

@description('Required. Name of the Log Analytics workspace.')
param workspaceName string

@description('Required. Name of the Application Insights component.')
param componentName string

@description('Required. Azure region.')
param location string

@description('Required. Tags of both resources.')
param tags object

@description('Required. Days that logs are kept.')
@minValue(30)
@maxValue(730)
param retentionDays int

@description('Required. Gigabytes of logs a day until ingestion stops for the day; -1: no cap.')
@minValue(-1)
param dailyQuotaGb int

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-02-01' = {
  name: workspaceName
  location: location
  tags: tags
  properties: {
    sku: {
      name: 'PerGB2018'
    }
    retentionInDays: retentionDays
    workspaceCapping: {
      dailyQuotaGb: dailyQuotaGb
    }
    features: {
      disableLocalAuth: true
      enableLogAccessUsingOnlyResourcePermissions: true
    }
  }
}

// Local authentication is off: telemetry arrives with the identity's Entra token, so the
// connection string is an address and no secret.
resource component 'Microsoft.Insights/components@2020-02-02' = {
  name: componentName
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    DisableLocalAuth: true
  }
}

@description('Resource id of the workspace.')
output workspaceId string = workspace.id

@description('Name of the Application Insights component.')
output componentName string = component.name

@description('Address of the telemetry endpoint; no secret, because local authentication is off.')
output connectionString string = component.properties.ConnectionString

@description('Address of the page of a trace: its lines in Application Insights. {trace} stands for its id.')
output traceUrl string = '${environment().portal}/#@${tenant().tenantId}/blade/Microsoft_Azure_Monitoring_Logs/LogsBlade/resourceId/${uriComponent(component.id)}/source/LogsBlade.AnalyticsShareLinkToQuery/query/${uriComponent('union requests, dependencies, traces, exceptions | where operation_Id == "')}{trace}${uriComponent('" | order by timestamp asc')}/timespan/P30D'
