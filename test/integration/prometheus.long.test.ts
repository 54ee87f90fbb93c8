import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'
import { expect, test } from 'vitest'
import { program } from '../support/packages.ts'
import { tempDir } from '../support/temp.ts'

const ALERTS = fileURLToPath(new URL('../../config/prometheus/alerts.yaml', import.meta.url))
const CASES = fileURLToPath(new URL('../support/alerts.yaml', import.meta.url))
const DASHBOARD = fileURLToPath(new URL('../../config/prometheus/dashboard.json', import.meta.url))

/** What promtool says on standard output; throws with the rest where it finds a fault. */
function promtool(...args: readonly string[]): string {
  return execFileSync(program('promtool'), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

test('each alert fires where it should and is quiet where it should', async () => {
  await using dir = await tempDir()
  copyFileSync(ALERTS, join(dir.path, 'alerts.yaml'))
  copyFileSync(CASES, join(dir.path, 'cases.yaml'))
  expect(promtool('test', 'rules', join(dir.path, 'cases.yaml'))).toContain('SUCCESS')

  const alerts = parse(readFileSync(ALERTS, 'utf8')).groups.flatMap(({ rules }: any) => rules)
  const cases = parse(readFileSync(CASES, 'utf8')).tests.flatMap((each: any) => each.alert_rule_test)
  for (const { alert } of alerts) {
    const its = cases.filter(({ alertname }: any) => alertname === alert)
    expect([alert, its.some((each: any) => each.exp_alerts.length > 0)]).toEqual([alert, true])
    expect([alert, its.some((each: any) => each.exp_alerts.length === 0)]).toEqual([alert, true])
  }
})

test('Prometheus understands every question of the dashboard', async () => {
  await using dir = await tempDir()
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8'))
  const rules = panels
    .flatMap(({ targets }: any) => targets)
    .map(({ expr }: any, index: number) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$sync', '.*'),
    }))
  const file = join(dir.path, 'rules.yaml')
  writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }))
  expect(promtool('check', 'rules', file)).toContain(`SUCCESS: ${rules.length} rules found`)
})
