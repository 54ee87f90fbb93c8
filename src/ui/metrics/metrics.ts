import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { type LabelsOf, type MetricName, METRICS, type MetricSpec, type NameOf } from './table.ts'

export type Sample = {
  [N in NameOf<'gauge'>]: { readonly name: N; readonly labels: LabelsOf<N>; readonly value: number }
}[NameOf<'gauge'>]

export class Metrics {
  readonly #registry = new Registry()
  readonly #counters = new Map<string, Counter>()
  readonly #gauges = new Map<string, Gauge>()
  readonly #histograms = new Map<string, Histogram>()

  constructor(version: string) {
    for (const [name, spec] of Object.entries<MetricSpec>(METRICS)) this.#register(name, spec)
    this.set('dirsyncd_build_info', { version, node: process.versions.node }, 1)
    // Memory, CPU, open files, event loop lag.
    collectDefaultMetrics({ register: this.#registry })
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name)
  }

  count<N extends NameOf<'counter'>>(name: N, labels: LabelsOf<N>, by = 1): void {
    this.#counters.get(name)?.inc(labels, by)
  }

  set<N extends NameOf<'gauge'>>(name: N, labels: LabelsOf<N>, value: number): void {
    this.#gauges.get(name)?.set(labels, value)
  }

  observe<N extends NameOf<'histogram'>>(name: N, labels: LabelsOf<N>, value: number): void {
    this.#histograms.get(name)?.observe(labels, value)
  }

  /** Sets these daemon gauges and removes all other values of them. */
  setAll(samples: readonly Sample[]): void {
    for (const name of DAEMON_GAUGES) this.#gauges.get(name)?.reset()
    for (const { name, labels, value } of samples) this.#gauges.get(name)?.set(labels, value)
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  #register(name: string, { type, help, labels, buckets }: MetricSpec): void {
    const options = { name, help, labelNames: [...labels], registers: [this.#registry] }
    if (type === 'counter') this.#counters.set(name, new Counter(options))
    else if (type === 'gauge') this.#gauges.set(name, new Gauge(options))
    else this.#histograms.set(name, new Histogram({ ...options, buckets: [...(buckets ?? [])] }))
  }
}

/** Gauges of prom-client with counter names; each has a twin by type with the same value. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

const DAEMON_GAUGES = (Object.keys(METRICS) as MetricName[]).filter((name) => METRICS[name].from === 'daemon')
