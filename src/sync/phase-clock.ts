/** `read`: source and directory. `plan`: until the guards have passed. `apply`: until the last outcome. */
export type RunPhase = 'read' | 'plan' | 'apply'

export class PhaseClock {
  readonly #onPhase: (phase: RunPhase, seconds: number) => void
  #phase: RunPhase = 'read'
  #since = performance.now()

  constructor(onPhase: (phase: RunPhase, seconds: number) => void) {
    this.#onPhase = onPhase
  }

  enter(phase: RunPhase): void {
    this.end()
    this.#phase = phase
    this.#since = performance.now()
  }

  end(): void {
    this.#onPhase(this.#phase, (performance.now() - this.#since) / 1000)
  }
}
