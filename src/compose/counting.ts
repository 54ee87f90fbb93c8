import type { ChangeWorkerDeps } from '../sync/apply/worker.ts'
import type { ClientOptions } from '../api/client/options.ts'
import type { Metrics } from '../ui/metrics/metrics.ts'
import type { LdapShared } from '../source/ldap/ldap-source.ts'
import type { ExecutorDeps } from '../sync/executor.ts'

/** Undefined in a command: nothing is counted. */
type Counting = Metrics | undefined

export function countRequests(metrics: Counting, sync: string): Pick<ClientOptions, 'onAnswer' | 'onRetry'> {
  if (metrics === undefined) return {}
  return {
    onAnswer: ({ operation, status, seconds }) => {
      const labels = { sync, operation, status: status === undefined ? 'none' : String(status) }
      metrics.count('dirsyncd_api_requests_total', labels)
      metrics.observe('dirsyncd_api_request_duration_seconds', { sync, operation }, seconds)
    },
    onRetry: (operation) => metrics.count('dirsyncd_api_retries_total', { sync, operation }),
  }
}

export function countLdap(metrics: Counting, sync: string): Pick<LdapShared, 'onResult'> {
  if (metrics === undefined) return {}
  return {
    onResult: (operation, result) =>
      metrics.count('dirsyncd_ldap_operations_total', { sync, operation, result }),
  }
}

export function countChanges(metrics: Counting, sync: string): Pick<ChangeWorkerDeps, 'onOutcome'> {
  if (metrics === undefined) return {}
  return {
    onOutcome: (op, outcome) => {
      if (outcome === 'pending') metrics.count('dirsyncd_change_retries_total', { sync, op })
      else metrics.count('dirsyncd_changes_total', { sync, op, outcome })
    },
  }
}

export function countRuns(metrics: Counting): Pick<ExecutorDeps, 'onPhase' | 'onEnd'> {
  if (metrics === undefined) return {}
  return {
    onPhase: (sync, phase, seconds) =>
      metrics.observe('dirsyncd_run_duration_seconds', { sync, phase }, seconds),
    onEnd: (sync, mode, end) => metrics.count('dirsyncd_runs_total', { sync, mode, end }),
  }
}
