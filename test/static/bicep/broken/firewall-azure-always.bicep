// expect: firewall without a condition
resource server 'Microsoft.Sql/servers@2023-08-01' existing = {
  name: 'sql'
}

resource rule 'Microsoft.Sql/servers/firewallRules@2023-08-01' = {
  parent: server
  name: 'all'
  properties: {
    startIpAddress: '0.0.0.0'
    endIpAddress: '0.0.0.0'
  }
}
