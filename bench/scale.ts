import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Figures } from './compare.ts'
import { type Fill, measureFill } from './first-fill.ts'
import type { Machine } from './machine.ts'
import type { BenchOptions } from './options.ts'
import { pageWith, picturesOf } from './scale-page.ts'
import { measureUnchanged } from './unchanged.ts'

/** The content of `scale.json`. */
export interface Scale {
  readonly machine: Machine
  readonly sizes: readonly Size[]
}

/** What was measured with so many users. */
export interface Size {
  readonly people: number
  readonly run: Sides & { readonly requests: number }
  readonly fill: Sides &
    Pick<Fill, 'health' | 'redisPeakBytes' | 'databaseBytes'> & { readonly requests: number }
}

interface Sides {
  readonly ours: Figures
  readonly floor: Figures
}

const SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000]
const LARGEST = 300_000

const FIGURES = fileURLToPath(new URL('scale.json', import.meta.url))
const DOCS = new URL('../docs/', import.meta.url)

/** Measures all sizes up to `--people` and keeps the figures for `drawScale`. */
export async function benchScale(machine: Machine, options: BenchOptions): Promise<void> {
  const { people: largest = LARGEST, repetitions, profileDir } = options
  const sizes: Size[] = []
  for (const people of SIZES.filter((size) => size <= largest)) {
    process.stderr.write(`${people} users …\n`)
    const run = await measureUnchanged(people, { repetitions: repetitions ?? 3, profileDir })
    const fill = await measureFill(people, { repetitions: repetitions ?? 1, profileDir })
    sizes.push(sizeOf(people, run, fill))
  }
  const scale: Scale = { machine, sizes }
  await writeFile(FIGURES, `${JSON.stringify(scale, null, 2)}\n`)
}

function sizeOf(people: number, run: Awaited<ReturnType<typeof measureUnchanged>>, fill: Fill): Size {
  const { comparison, requests, health, redisPeakBytes, databaseBytes } = fill
  return {
    people,
    run: { ...sidesOf(run.comparison), requests: run.requests },
    fill: {
      ...sidesOf(comparison),
      requests: requests.reads + requests.writes,
      health,
      redisPeakBytes,
      databaseBytes,
    },
  }
}

function sidesOf({ ours, floor }: Sides): Sides {
  return { ours, floor }
}

/** Writes the picture and the tables of docs/scale.md from `scale.json`. */
export async function drawScale(): Promise<void> {
  const scale = JSON.parse(await readFile(FIGURES, 'utf8')) as Scale
  const page = new URL('scale.md', DOCS)
  await writeFile(new URL('scale.svg', DOCS), picturesOf(scale))
  await writeFile(page, pageWith(await readFile(page, 'utf8'), scale))
}
