/** `read`: source and directory. `plan`: until the guards have passed. `apply`: until the last outcome. */
export type RunPhase = 'read' | 'plan' | 'apply'

export class PhaseClock {
  readonly #onPhase: (phase: RunPhase, seconds: number) => void
  #running: { readonly phase: RunPhase; readonly since: number } | undefined

  constructor(onPhase: (phase: RunPhase, seconds: number) => void) {
    this.#onPhase = onPhase
  }

  enter(phase: RunPhase): void {
    this.end()
    this.#running = { phase, since: performance.now() }
  }

  end(): void {
    const ended = this.#running
    this.#running = undefined
    if (ended !== undefined) this.#onPhase(ended.phase, (performance.now() - ended.since) / 1000)
  }
}
