// expect: type a loop needs an array
@description('Required. Azure region.')
param location string

@description('Parts of the name.')
output parts array = [for part in location: part]
