// expect: using there is no file
using 'modules/templat.bicep'

param count = 3
param size = 'small'
