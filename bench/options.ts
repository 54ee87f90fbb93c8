/** Options of the command line. */
export interface BenchOptions {
  /** Replaces the default number of each benchmark. */
  readonly repetitions: number | undefined
  /** The folder for CPU profiles of our processes. */
  readonly profileDir: string | undefined
}
