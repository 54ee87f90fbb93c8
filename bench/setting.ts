/** What the command line says about how to measure. */
export interface Setting {
  /** Instead of each benchmark's own number. */
  readonly repetitions: number | undefined
  /** Where a CPU profile of our process is written. */
  readonly profileDir: string | undefined
}
