metadata name = 'Network'
metadata description = 'Private profile: subnets, private endpoints, and their DNS zones.'

@description('Required. Name of the virtual network.')
param name string

@description('Required. Azure region.')
param location string

@description('Required. Tags of all resources.')
param tags object

// The app gets the first /26 of it, the endpoints the second.
@description('Required. Address range of the network, at least a /25.')
param addressPrefix string

@description('Required. Resource id of the storage account.')
param storageAccountId string

@description('Required. Resource id of the SQL server.')
param sqlServerId string

// Without a DNS zone of its own an endpoint is never used: the host name goes on resolving to the
// public address. The suffix of SQL starts with a dot, that of storage does not.
var endpoints = [
  {
    group: 'blob'
    zone: 'privatelink.blob.${environment().suffixes.storage}'
  }
  {
    group: 'queue'
    zone: 'privatelink.queue.${environment().suffixes.storage}'
  }
  {
    group: 'table'
    zone: 'privatelink.table.${environment().suffixes.storage}'
  }
  {
    group: 'sqlServer'
    zone: 'privatelink${environment().suffixes.sqlServerHostname}'
  }
]
var appSubnetName = 'app'
var endpointSubnetName = 'endpoints'

resource network 'Microsoft.Network/virtualNetworks@2024-07-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: {
      addressPrefixes: [
        addressPrefix
      ]
    }
    subnets: [
      {
        name: appSubnetName
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 26, 0)
          delegations: [
            {
              name: 'flex-consumption'
              properties: {
                serviceName: 'Microsoft.App/environments'
              }
            }
          ]
        }
      }
      {
        name: endpointSubnetName
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 26, 1)
          privateEndpointNetworkPolicies: 'Disabled'
        }
      }
    ]
  }
}

resource appSubnet 'Microsoft.Network/virtualNetworks/subnets@2024-07-01' existing = {
  parent: network
  name: appSubnetName
}

resource endpointSubnet 'Microsoft.Network/virtualNetworks/subnets@2024-07-01' existing = {
  parent: network
  name: endpointSubnetName
}

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for endpoint in endpoints: {
    name: endpoint.zone
    location: 'global'
    tags: tags
  }
]

resource zoneLinks 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (endpoint, i) in endpoints: {
    parent: zones[i]
    name: '${name}-${endpoint.group}'
    location: 'global'
    tags: tags
    properties: {
      registrationEnabled: false
      virtualNetwork: {
        id: network.id
      }
    }
  }
]

resource privateEndpoints 'Microsoft.Network/privateEndpoints@2024-07-01' = [
  for endpoint in endpoints: {
    name: 'pep-${name}-${endpoint.group}'
    location: location
    tags: tags
    properties: {
      subnet: {
        id: endpointSubnet.id
      }
      privateLinkServiceConnections: [
        {
          name: endpoint.group
          properties: {
            privateLinkServiceId: endpoint.group == 'sqlServer' ? sqlServerId : storageAccountId
            groupIds: [
              endpoint.group
            ]
          }
        }
      ]
    }
  }
]

resource zoneGroups 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-07-01' = [
  for (endpoint, i) in endpoints: {
    parent: privateEndpoints[i]
    name: 'default'
    properties: {
      privateDnsZoneConfigs: [
        {
          name: endpoint.group
          properties: {
            privateDnsZoneId: zones[i].id
          }
        }
      ]
    }
  }
]

@description('Resource id of the network.')
output resourceId string = network.id

@description('Name of the network.')
output name string = network.name

@description('Resource id of the subnet of the private endpoints.')
output endpointSubnetId string = endpointSubnet.id

// A user of this output waits for the whole module: names resolve before the app starts.
@description('Resource id of the subnet of the function app.')
output appSubnetId string = appSubnet.id
