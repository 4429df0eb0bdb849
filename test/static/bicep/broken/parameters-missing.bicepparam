// expect: module requires parameter "size"
using 'modules/template.bicep'

param count = 3
