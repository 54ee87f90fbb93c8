/** Options of the command line. */
export interface BenchOptions {
  /** Replaces the default number of each benchmark. */
  readonly repetitions: number | undefined
  /** How many users `batch` and `first-fill` create instead of their own numbers, and the largest size of `scale`. */
  readonly people: number | undefined
  /** The folder for CPU profiles of our processes. */
  readonly profileDir: string | undefined
}
