// expect: type int where string
@description('Required. Azure region.')
param location string

var names = [
  'a'
  'b'
]

resource identities 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = [
  for (name, i) in names: {
    name: i
    location: location
    tags: {
      name: name
    }
  }
]
