// expect: firewall for more than one address
resource server 'Microsoft.Sql/servers@2023-08-01' existing = {
  name: 'sql'
}

resource rule 'Microsoft.Sql/servers/firewallRules@2023-08-01' = {
  parent: server
  name: 'all'
  properties: {
    startIpAddress: '0.0.0.1'
    endIpAddress: '255.255.255.255'
  }
}
