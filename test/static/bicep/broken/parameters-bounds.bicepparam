// expect: bounds "count": 11 is more than 10
using 'modules/template.bicep'

param count = 11
param size = 'small'
