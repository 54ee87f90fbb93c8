import { arch, cpus, totalmem } from 'node:os'

/** The machine that was measured. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly system: string
  readonly node: string
  readonly date: string
}

export function thisMachine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model.trim() ?? arch(),
    cores: all.length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `${process.platform} ${arch()}`,
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
  }
}
