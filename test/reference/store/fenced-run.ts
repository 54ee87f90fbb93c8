import type { Ram, Run } from './ram.ts'

export class FencedRun {
  readonly run: number
  readonly #ram: Ram

  constructor(ram: Ram, { run }: { readonly run: number }) {
    this.#ram = ram
    this.run = run
  }

  async write<T>(work: (ram: Ram, run: Run) => Promise<T>): Promise<T> {
    return work(this.#ram, this.#ram.run(this.run))
  }
}
