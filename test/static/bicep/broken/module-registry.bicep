// expect: registry cannot be built or checked offline
@description('Required. Azure region.')
param location string

module identity 'br/public:avm/res/managed-identity/user-assigned-identity:0.4.1' = {
  name: 'identity'
  params: {
    name: 'id'
    location: location
  }
}
