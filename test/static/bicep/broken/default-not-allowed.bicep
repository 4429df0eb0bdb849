// expect: type 'huge' where
@description('Optional. Size of an instance.')
@allowed([
  'large'
  'small'
])
param size string = 'huge'

@description('Size of an instance.')
output size string = size
