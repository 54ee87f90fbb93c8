import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { program } from './packages.ts'
import { freePort, startServer } from './server-process.ts'
import { tempDir } from './temp.ts'

/** A Prometheus that asks its targets and judges its rules every half second. */
export interface Prometheus extends AsyncDisposable {
  /** The value of each series of an expression, by its labels in text form, sorted; empty where there is none. */
  query(expr: string): Promise<Readonly<Record<string, number>>>
  /** The alerts that fire, such as `DirsyncdHeld corp`. */
  firing(): Promise<readonly string[]>
}

export interface PrometheusOptions {
  /** `host:port` of each. */
  readonly targets: readonly string[]
  /** The bearer token, in a file. */
  readonly tokenFile: string
  /** In Prometheus' form. */
  readonly rules: object
}

export async function startPrometheus({ targets, tokenFile, rules }: PrometheusOptions): Promise<Prometheus> {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir())
  const config = join(dir.path, 'prometheus.yml')
  await writeFile(join(dir.path, 'rules.yaml'), stringify(rules))
  const job = {
    job_name: 'dirsyncd',
    authorization: { credentials_file: tokenFile },
    static_configs: [{ targets }],
  }
  const global = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' }
  await writeFile(config, stringify({ global, rule_files: ['rules.yaml'], scrape_configs: [job] }))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const server = await startServer({
    command: program('prometheus'),
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(dir.path, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    ready: async () => {
      if (!(await fetch(`${url}/-/ready`)).ok) throw new Error('not ready')
    },
  })
  stack.defer(() => server.stop())
  const query = async (expr: string) => {
    const answer: any = await (await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`)).json()
    if (answer.status !== 'success') throw new Error(JSON.stringify(answer))
    const entries = answer.data.result.map(
      ({ metric, value }: any) => [labelsOf(metric), Number(value[1])] as const,
    )
    return Object.fromEntries(entries.toSorted())
  }
  const owned = stack.move()
  return {
    query,
    firing: async () => {
      const alerts = await query('sum by (alertname, sync) (ALERTS{alertstate="firing"})')
      return Object.keys(alerts)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function labelsOf(metric: Readonly<Record<string, string>>): string {
  return Object.entries(metric)
    .filter(([name]) => name !== '__name__')
    .map(([, value]) => value)
    .join(' ')
}

/** What `promtool check metrics` finds wrong with a text of metrics: nothing, or what it says. */
export function findFaults(text: string): string {
  try {
    return execFileSync(program('promtool'), ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  } catch (error) {
    return String((error as { stderr?: unknown }).stderr ?? error)
  }
}
