// expect: type 'medium' where
using 'modules/template.bicep'

param count = 3
param size = 'medium'
