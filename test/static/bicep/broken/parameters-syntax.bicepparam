// expect: syntax [syntax]
using 'modules/template.bicep'

param count = 3
param size = 'small
