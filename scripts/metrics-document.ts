import { LABELS, METRICS, type MetricSpec } from '../src/ui/metrics/table.ts'

const HEAD = `# Metrics

<!-- Made from src/ui/metrics/table.ts by \`npm run metrics\`. -->

\`dirsyncd start\` shows its metrics at \`/metrics\` of \`admin.listen\`, \`dirsyncd worker\` at that of \`worker.listen\`, in
Prometheus' text format. Both need the token of \`admin.token\` as a bearer token. Without this option, the daemon's token is in the file \`admin-token\` of \`dataDir\`, and a worker has no \`/metrics\`. For example:

\`\`\`yaml
scrape_configs:
  - job_name: dirsyncd
    authorization: { credentials_file: /etc/prometheus/dirsyncd-token }
    static_configs:
      - targets: [dirsyncd.example.org:8080, worker.example.org:8081]
\`\`\`

\`config/prometheus/alerts.yaml\` has alerts, \`config/prometheus/dashboard.json\` a dashboard for Grafana.

What the **daemon** shows is what the store and the configuration say when Prometheus asks. Workers do not show it, and
every daemon on one store shows the same: take the maximum. What each **process** shows is what it did itself: add it
up. Without the store there is nothing of the first kind, and \`dirsyncd_store_up\` is 0. Names, types and labels do not
change without a line in the changelog.
`

const TAIL = `
Each process also shows what Prometheus' client for Node measures of it: \`process_*\` (memory, CPU, open files) and
\`nodejs_*\` (heap, garbage collection, \`nodejs_eventloop_lag_*\`: for how long the process lets others wait).
`

/** The text of `docs/metrics.md`. */
export function metricsDocument(): string {
  const specs = Object.entries<MetricSpec>(METRICS)
  const sections = [
    ['Of the daemon', 'daemon'],
    ['Of each process', 'process'],
  ] as const
  const tables = sections.map(
    ([title, from]) => `\n## ${title}\n\n${table(specs.filter(([, spec]) => spec.from === from))}`,
  )
  const labels = Object.entries(LABELS).map(([name, values]) => `- \`${name}\`: ${values}`)
  return `${HEAD}${tables.join('')}${TAIL}\n## Labels\n\n${labels.join('\n')}\n`
}

function table(specs: readonly (readonly [string, MetricSpec])[]): string {
  const rows = specs.map(([name, { type, help, labels }]) => {
    const names = labels.map((label) => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${names} | ${help} |`
  })
  return `| name | type | labels | |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`
}
