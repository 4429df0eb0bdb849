// expect: type '3' where int
using 'modules/template.bicep'

param count = '3'
param size = 'small'
