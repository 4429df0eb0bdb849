// expect: type 'three' where int
@description('Optional. Number of instances.')
param count int = 'three'

@description('Number of instances.')
output count int = count
