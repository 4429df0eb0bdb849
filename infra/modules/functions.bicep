metadata name = 'Functions'
metadata description = 'Flex Consumption plan, and the function app with its settings.'

@description('Required. Name of the plan.')
param planName string

@description('Required. Name of the function app.')
param appName string

@description('Required. Azure region.')
param location string

@description('Required. Tags of plan and app.')
param tags object

@description('Required. Resource id of the user-assigned identity.')
param identityId string

@description('Required. Client id of the user-assigned identity.')
param identityClientId string

@description('Required. Address of the container with the deployment package.')
param packageContainerUrl string

@description('Required. Name of the storage account of the host.')
param storageAccountName string

@description('Required. Blob endpoint of the storage account of the host.')
param blobEndpoint string

@description('Required. Queue endpoint of the storage account of the host.')
param queueEndpoint string

@description('Required. Table endpoint of the storage account of the host.')
param tableEndpoint string

@description('Required. Connection string of Application Insights (an address, no secret).')
param insightsConnectionString string

@description('Required. Address of the page of a trace, with {trace} in place of its id.')
param traceUrl string

@description('Required. Host name of the SQL server.')
param sqlServerFqdn string

@description('Required. Name of the database.')
param sqlDatabaseName string

@description('Required. Schedule of function sweep, in six NCRONTAB fields, UTC.')
param sweepSchedule string

@description('Required. Whether the app has the HTTP routes of operators.')
@allowed([
  'off'
  'on'
])
param operatorApi string

@description('Required. How callers of the API are known: keys, or entra.')
@allowed([
  'entra'
  'keys'
])
param apiSignIn string

@description('Required. Client id of the app registration that callers sign in to; empty with keys.')
param apiEntraClientId string

@description('Required. Paths that need no sign-in with entra; no route of the API is among them.')
param openPaths array

@description('Required. Addresses (CIDR) that may reach app and deployments; empty: all, or none if private.')
param apiAllowedAddresses array

@description('Required. True: reached through its private endpoint, and from apiAllowedAddresses.')
param isPrivate bool

@description('Required. Memory of an instance in megabytes.')
@allowed([
  512
  2048
  4096
])
param instanceMemoryMb int

// All HTTP functions are one group, every queue and timer function is a group of its own.
@description('Required. Most on-demand instances of each function group.')
@minValue(1)
@maxValue(1000)
param instanceCountMax int

// They come on top of instanceCountMax.
@description('Required. Instances that always run: name (http or function:NAME), instanceCount.')
param alwaysReady array

@description('Required. Resource id of the subnet for outbound traffic; empty for none.')
param subnetId string

var hasAddresses = !empty(apiAllowedAddresses)
var usesEntra = apiSignIn == 'entra'
var othersMay = hasAddresses ? 'Deny' : 'Allow'

resource plan 'Microsoft.Web/serverfarms@2024-11-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: {
    name: 'FC1'
    tier: 'FlexConsumption'
  }
  properties: {
    reserved: true
  }
}

// Flex Consumption takes runtime and scale from functionAppConfig; the settings that name them on
// other plans (FUNCTIONS_WORKER_RUNTIME and the like) must not be set here.
resource app 'Microsoft.Web/sites@2024-11-01' = {
  name: appName
  location: location
  tags: union(tags, { 'azd-service-name': 'worker' })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identityId}': {}
    }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    publicNetworkAccess: isPrivate && !hasAddresses ? 'Disabled' : 'Enabled'
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: packageContainerUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      runtime: {
        name: 'node'
        version: '22'
      }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryMb
        maximumInstanceCount: instanceCountMax
        alwaysReady: alwaysReady
      }
    }
    siteConfig: {
      ftpsState: 'Disabled'
      http20Enabled: true
      minTlsVersion: '1.2'
      scmMinTlsVersion: '1.2'
      // The site that deployments go to admits whom the app admits.
      scmIpSecurityRestrictionsUseMain: true
      ipSecurityRestrictionsDefaultAction: othersMay
      scmIpSecurityRestrictionsDefaultAction: othersMay
      ipSecurityRestrictions: [
        for (address, i) in apiAllowedAddresses: {
          name: 'allowed-${i}'
          action: 'Allow'
          priority: 100 + i
          ipAddress: address
        }
      ]
      appSettings: [
        {
          name: 'AzureWebJobsStorage__credential'
          value: 'managedidentity'
        }
        {
          name: 'AzureWebJobsStorage__clientId'
          value: identityClientId
        }
        // Beside the addresses: without it the host of May 2026 sometimes starts without its storage, and answers 401 to
        // every key (azure-functions-host, issue 11787).
        {
          name: 'AzureWebJobsStorage__accountName'
          value: storageAccountName
        }
        {
          name: 'AzureWebJobsStorage__blobServiceUri'
          value: blobEndpoint
        }
        {
          name: 'AzureWebJobsStorage__queueServiceUri'
          value: queueEndpoint
        }
        {
          name: 'AzureWebJobsStorage__tableServiceUri'
          value: tableEndpoint
        }
        {
          name: 'APPLICATIONINSIGHTS_CONNECTION_STRING'
          value: insightsConnectionString
        }
        {
          name: 'APPLICATIONINSIGHTS_AUTHENTICATION_STRING'
          value: 'ClientId=${identityClientId};Authorization=AAD'
        }
        {
          name: 'TASKGATE_TRACE_URL'
          value: traceUrl
        }
        {
          name: 'TASKGATE_SQL_CLIENT_ID'
          value: identityClientId
        }
        {
          name: 'TASKGATE_SQL_SERVER'
          value: sqlServerFqdn
        }
        {
          name: 'TASKGATE_SQL_DATABASE'
          value: sqlDatabaseName
        }
        {
          name: 'TASKGATE_SWEEP_SCHEDULE'
          value: sweepSchedule
        }
        {
          name: 'TASKGATE_OPERATOR_API'
          value: operatorApi
        }
        {
          name: 'TASKGATE_API_SIGN_IN'
          value: apiSignIn
        }
      ]
    }
  }
}

// Always there: left out it would stay as it was. No secret: sign-in asks for an id token alone, and no
// token is stored. A caller without a session gets the sign-in page, one with a bad token 401.
resource signIn 'Microsoft.Web/sites/config@2024-11-01' = {
  parent: app
  name: 'authsettingsV2'
  properties: {
    platform: {
      enabled: usesEntra
      runtimeVersion: '~1'
    }
    globalValidation: {
      requireAuthentication: usesEntra
      unauthenticatedClientAction: 'RedirectToLoginPage'
      redirectToProvider: 'azureactivedirectory'
      excludedPaths: usesEntra ? openPaths : []
    }
    httpSettings: {
      requireHttps: true
    }
    identityProviders: {
      azureActiveDirectory: {
        enabled: usesEntra
        registration: {
          clientId: apiEntraClientId
          openIdIssuer: uri(environment().authentication.loginEndpoint, '${tenant().tenantId}/v2.0')
        }
        validation: {
          allowedAudiences: usesEntra ? ['api://${apiEntraClientId}'] : []
        }
      }
    }
    login: {
      tokenStore: {
        enabled: false
      }
    }
  }
}

// Publishing with a user name and password is off; deployments sign in with Entra.
resource publishingByFtp 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-11-01' = {
  parent: app
  name: 'ftp'
  properties: {
    allow: false
  }
}

resource publishingByScm 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-11-01' = {
  parent: app
  name: 'scm'
  properties: {
    allow: false
  }
}

@description('Resource id of the function app.')
output resourceId string = app.id

@description('Name of the function app.')
output name string = app.name

@description('Address of the function app.')
output url string = 'https://${app.properties.defaultHostName}'
