// expect: policy DisableLocalAuth must be true
@description('Required. Azure region.')
param location string

resource component 'Microsoft.Insights/components@2020-02-02' = {
  name: 'appi'
  location: location
  kind: 'web'
  properties: {
    Application_Type: 'web'
  }
}
