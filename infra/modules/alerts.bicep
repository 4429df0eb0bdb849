metadata name = 'Alerts'
metadata description = 'Few rules: nothing runs, tasks die, messages are refused, logs stop, the database nears a limit.'

@description('Required. Prefix of the names of the rules.')
param namePrefix string

@description('Required. Azure region of the log rules; metric rules are global.')
param location string

@description('Required. Tags of all rules.')
param tags object

@description('Required. Resource id of the Log Analytics workspace.')
param workspaceId string

@description('Required. Resource id of the database.')
param databaseId string

@description('Required. Addresses to tell; empty: the rules show in the portal and tell nobody.')
param emailAddresses array

var actionGroupIds = empty(emailAddresses) ? [] : [actionGroup.id]
var databaseRules = [
  {
    metric: 'workers_percent'
    aggregation: 'Maximum'
    threshold: 80
  }
  {
    metric: 'sessions_percent'
    aggregation: 'Maximum'
    threshold: 80
  }
  {
    metric: 'log_write_percent'
    aggregation: 'Average'
    threshold: 80
  }
  {
    metric: 'storage_percent'
    aggregation: 'Maximum'
    threshold: 85
  }
  {
    metric: 'deadlock'
    aggregation: 'Total'
    threshold: 0
  }
]

resource actionGroup 'Microsoft.Insights/actionGroups@2023-01-01' = if (!empty(emailAddresses)) {
  name: '${namePrefix}-operators'
  location: 'global'
  tags: tags
  properties: {
    enabled: true
    groupShortName: 'taskgate'
    emailReceivers: [
      for address in emailAddresses: {
        name: address
        emailAddress: address
        useCommonAlertSchema: true
      }
    ]
  }
}

// The alert people forget: a rule that waits for bad news stays silent when nothing runs at all.
// summarize without "by" gives one row even for no data, so the count is 0 and not missing.
resource heartbeatMissing 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = {
  name: '${namePrefix}-heartbeat-missing'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: 'Taskgate: no sweep for 15 minutes'
    description: 'The app is down, or cannot reach the database or the telemetry endpoint.'
    severity: 1
    enabled: true
    scopes: [
      workspaceId
    ]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      allOf: [
        {
          query: 'AppMetrics | where Name == "taskgate.sweep.count" | summarize Sweeps = count()'
          metricMeasureColumn: 'Sweeps'
          timeAggregation: 'Total'
          operator: 'LessThan'
          threshold: 1
          failingPeriods: {
            numberOfEvaluationPeriods: 1
            minFailingPeriodsToAlert: 1
          }
        }
      ]
    }
    autoMitigate: true
    // The table exists only after the first telemetry arrived; a validated query would fail the
    // first deployment.
    skipQueryValidation: true
    actions: {
      actionGroups: actionGroupIds
    }
  }
}

resource deadLetters 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = {
  name: '${namePrefix}-dead-letters'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: 'Taskgate: tasks became dead letters'
    description: 'Tasks used up their attempts in the last 15 minutes. taskgate status shows which.'
    severity: 2
    enabled: true
    scopes: [
      workspaceId
    ]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      allOf: [
        {
          query: 'AppMetrics | where Name == "taskgate.task.dead" | summarize Dead = sum(Sum)'
          metricMeasureColumn: 'Dead'
          timeAggregation: 'Total'
          operator: 'GreaterThan'
          threshold: 0
          failingPeriods: {
            numberOfEvaluationPeriods: 1
            minFailingPeriodsToAlert: 1
          }
        }
      ]
    }
    autoMitigate: true
    skipQueryValidation: true
    actions: {
      actionGroups: actionGroupIds
    }
  }
}

// A message that no worker can read or wants waits in a poison queue for a person.
resource refusedMessages 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = {
  name: '${namePrefix}-refused-messages'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: 'Taskgate: messages went to a poison queue'
    description: 'Events or hints that nobody can read. Each says why; taskgate replay brings them back.'
    severity: 2
    enabled: true
    scopes: [
      workspaceId
    ]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      allOf: [
        {
          query: 'AppMetrics | where Name == "taskgate.message.refused" | summarize Refused = sum(Sum)'
          metricMeasureColumn: 'Refused'
          timeAggregation: 'Total'
          operator: 'GreaterThan'
          threshold: 0
          failingPeriods: {
            numberOfEvaluationPeriods: 1
            minFailingPeriodsToAlert: 1
          }
        }
      ]
    }
    autoMitigate: true
    skipQueryValidation: true
    actions: {
      actionGroups: actionGroupIds
    }
  }
}

// Beyond its daily cap the workspace takes no metrics: the rules above see nothing, and the first one takes that for silence.
resource logCap 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = {
  name: '${namePrefix}-log-cap'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: 'Taskgate: the daily cap of logs is reached'
    description: 'No telemetry until the cap is reset, so the other log rules are blind. Raise logDailyQuotaGb, or send less.'
    severity: 2
    enabled: true
    scopes: [
      workspaceId
    ]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      allOf: [
        {
          query: '_LogOperation | where Category =~ "Ingestion" | where Detail contains "OverQuota" | summarize Stops = count()'
          metricMeasureColumn: 'Stops'
          timeAggregation: 'Total'
          operator: 'GreaterThan'
          threshold: 0
          failingPeriods: {
            numberOfEvaluationPeriods: 1
            minFailingPeriodsToAlert: 1
          }
        }
      ]
    }
    autoMitigate: true
    skipQueryValidation: true
    actions: {
      actionGroups: actionGroupIds
    }
  }
}

resource databaseAlerts 'Microsoft.Insights/metricAlerts@2018-03-01' = [
  for rule in databaseRules: {
    name: '${namePrefix}-sql-${rule.metric}'
    location: 'global'
    tags: tags
    properties: {
      description: 'Database: ${rule.metric} above ${rule.threshold}.'
      severity: 2
      enabled: true
      scopes: [
        databaseId
      ]
      evaluationFrequency: 'PT5M'
      windowSize: 'PT15M'
      criteria: {
        'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
        allOf: [
          {
            criterionType: 'StaticThresholdCriterion'
            name: rule.metric
            metricNamespace: 'Microsoft.Sql/servers/databases'
            metricName: rule.metric
            timeAggregation: rule.aggregation
            operator: 'GreaterThan'
            threshold: rule.threshold
          }
        ]
      }
      autoMitigate: true
      actions: [
        for id in actionGroupIds: {
          actionGroupId: id
        }
      ]
    }
  }
]
