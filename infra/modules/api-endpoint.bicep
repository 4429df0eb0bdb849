metadata name = 'API endpoint'
metadata description = 'Private profile: the function app inside the network, and its DNS zone.'

@description('Required. Name of the virtual network, part of names.')
param networkName string

@description('Required. Resource id of the virtual network.')
param networkId string

@description('Required. Resource id of the subnet of the private endpoints.')
param subnetId string

@description('Required. Azure region.')
param location string

@description('Required. Tags of all resources.')
param tags object

@description('Required. Resource id of the function app.')
param appId string

// A module of its own: the other endpoints must be there before the app, this one needs the app.
var group = 'sites'

resource endpoint 'Microsoft.Network/privateEndpoints@2024-07-01' = {
  name: 'pep-${networkName}-${group}'
  location: location
  tags: tags
  properties: {
    subnet: {
      id: subnetId
    }
    privateLinkServiceConnections: [
      {
        name: group
        properties: {
          privateLinkServiceId: appId
          groupIds: [
            group
          ]
        }
      }
    ]
  }
}

// The endpoint writes two names into it: of the app, and of the site that deployments go to.
resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = {
  name: 'privatelink.azurewebsites.net'
  location: 'global'
  tags: tags
}

resource zoneLink 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = {
  parent: zone
  name: '${networkName}-${group}'
  location: 'global'
  tags: tags
  properties: {
    registrationEnabled: false
    virtualNetwork: {
      id: networkId
    }
  }
}

resource zoneGroup 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-07-01' = {
  parent: endpoint
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      {
        name: group
        properties: {
          privateDnsZoneId: zone.id
        }
      }
    ]
  }
}
