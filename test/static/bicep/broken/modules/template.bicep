metadata description = 'Whole and right: the broken parameter files beside this folder point at it.'

@description('Required. Number of instances.')
@minValue(1)
@maxValue(10)
param count int

@description('Required. Size of an instance.')
@allowed([
  'large'
  'small'
])
param size string

@description('Optional. More tags.')
param tags object = {}

@description('All of it.')
output all object = union(tags, { count: count, size: size })
