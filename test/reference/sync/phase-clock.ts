/** `read`: both sides. `plan`: until the guards have passed. `apply`: until the last change has its outcome. */
export type RunPhase = 'read' | 'plan' | 'apply'

/** Measures the phases of one run. */
export class PhaseClock {
  readonly #onPhase: (phase: RunPhase, seconds: number) => void
  #phase: RunPhase = 'read'
  #since = performance.now()

  constructor(onPhase: (phase: RunPhase, seconds: number) => void) {
    this.#onPhase = onPhase
  }

  /** Ends the phase that is under way, and begins the next. */
  enter(phase: RunPhase): void {
    this.end()
    this.#phase = phase
    this.#since = performance.now()
  }

  /** Ends the phase that is under way. */
  end(): void {
    this.#onPhase(this.#phase, (performance.now() - this.#since) / 1000)
  }
}
