// expect: type are never equal
@description('Required. Mode of the network.')
@allowed([
  'private'
  'public'
])
param mode string

@description('Whether the network is private.')
output isPrivate bool = mode == 'privat'
