// expect: module has no parameter "colour"
using 'modules/template.bicep'

param count = 3
param size = 'small'
param colour = 'red'
