import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { expect, test } from 'vitest'
import { metricsDocument } from '../../../../scripts/metrics-document.ts'
import { Metrics, type Sample } from '../../../../src/ui/metrics/metrics.ts'
import { LABELS, METRICS, type MetricSpec } from '../../../../src/ui/metrics/table.ts'

const text = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')

test('docs/metrics.md is what the table says; npm run metrics writes it', () => {
  expect(text('docs/metrics.md')).toBe(metricsDocument())
})

test('every metric and label is used, and means something', () => {
  const specs = Object.entries<MetricSpec>(METRICS)
  expect(new Set(specs.flatMap(([, { labels }]) => labels))).toEqual(new Set(Object.keys(LABELS)))
  for (const [name, { type, help, buckets }] of specs) {
    expect(name).toMatch(type === 'counter' ? /^dirsyncd_\w+_total$/ : /^dirsyncd_\w+(?<!_total)$/)
    expect(help).toMatch(/^[A-Z0-9].*\.$/)
    expect(buckets !== undefined).toBe(type === 'histogram')
  }
})

test.each(['config/prometheus/alerts.yaml', 'config/prometheus/dashboard.json'])(
  '%s asks for no metric that there is not',
  (path) => {
    const names = new Set(text(path).match(/\bdirsyncd_\w+/g))
    const known = new Set<string>()
    for (const [name, { type }] of Object.entries<MetricSpec>(METRICS))
      for (const end of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) known.add(name + end)
    expect([...names].filter((name) => !known.has(name))).toEqual([])
    expect(names.size).toBeGreaterThan(10)
  },
)

test('each alert says what is wrong and what to do, of which sync or process', () => {
  const { groups } = parse(text('config/prometheus/alerts.yaml'))
  for (const { alert, labels, annotations } of groups.flatMap(({ rules }: any) => rules)) {
    expect(alert).toMatch(/^Dirsyncd[A-Z]\w+$/)
    expect(['critical', 'warning', 'info']).toContain(labels.severity)
    expect(annotations.summary).toMatch(/\$labels\.(sync|instance|channel)/)
    expect(annotations.action).toMatch(/\.$/)
  }
})

function sample(sync: string, value: number): Sample {
  return { name: 'dirsyncd_sync_failures', labels: { sync }, value }
}

test('what the daemon tells is as new as its last look, and what the process counted stays', async () => {
  const metrics = new Metrics('1.2.3')
  metrics.count('dirsyncd_runs_total', { sync: 'corp', mode: 'sync', end: 'done' })
  metrics.setAll([sample('corp', 1), sample('labs', 2)])
  metrics.setAll([sample('labs', 3)])
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('dirsyncd_'))
  expect(lines).toEqual([
    expect.stringMatching(/^dirsyncd_build_info\{version="1\.2\.3",node="[\d.]+"\} 1$/),
    'dirsyncd_sync_failures{sync="labs"} 3',
    'dirsyncd_runs_total{sync="corp",mode="sync",end="done"} 1',
  ])
})
