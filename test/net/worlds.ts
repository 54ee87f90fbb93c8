import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { firstDifference } from './differences.ts'
import { makeStory } from './make-story.ts'
import { forgetNames } from './names.ts'
import { play } from './play.ts'
import { present } from './present.ts'
import { reference } from './reference.ts'

/**
 * Two deciders play the same stories, each on a store in RAM of its own: the one of 3168b636 and the present one. Per
 * run they must send the same requests, ask the same questions, give the same notices and set the same marks.
 *
 * A world that differs is named by its seed, and `NET=SEED npx vitest run --project net` plays it alone and prints all
 * lines of both. `NET=FROM-TO` plays other ones.
 */
export function testWorlds(from: number, to: number): void {
  const [first, last] = chosen() ?? [from, to]
  test(`the deciders agree in the worlds ${first} to ${last - 1}`, { timeout: 1_200_000 }, async () => {
    const differing: string[] = []
    for (let seed = first; seed < last; seed += 1) {
      const difference = await differenceOf(seed, last - first === 1)
      if (difference !== undefined) differing.push(difference)
      if (seed % 100 === 0) await setImmediate()
    }
    expect(`${differing.length} worlds differ\n${differing.slice(0, WORLDS_SHOWN).join('\n')}`).toBe(
      '0 worlds differ\n',
    )
  })
}

const WORLDS_SHOWN = 10

function chosen(): readonly [number, number] | undefined {
  const asked = process.env['NET']
  if (asked === undefined) return undefined
  const [from = 0, to = from + 1] = asked.split('-').map(Number)
  return [from, to]
}

async function differenceOf(seed: number, isPrinted: boolean): Promise<string | undefined> {
  forgetNames()
  const story = makeStory(seed)
  const old = await play(story, reference)
  const now = await play(story, present).catch((error: unknown) => [[`broke off with ${String(error)}`]])
  if (isPrinted) console.log(JSON.stringify({ story, reference: old, present: now }, plain, 2))
  const difference = firstDifference(old, now)
  if (difference === undefined) return undefined
  const { run, reference: was, present: is } = difference
  return `world ${seed} (${story.theme}), run ${run}:\n  reference ${was.join('\n            ')}\n  present   ${is.join('\n            ')}`
}

function plain(_key: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value)
  return value instanceof Set ? [...value] : value
}
