import { expect, test } from 'vitest'
import { makeStory } from './make-story.ts'
import { forgetNames } from './names.ts'
import { playNext, type StepResult } from './next.ts'
import { playSteps } from './play.ts'
import { reference } from './reference.ts'
import type { Step } from './story.ts'

/** What the run of `src/sync` does otherwise than 3168b636, as it shows in one step. The rest of the world is not compared. */
interface Wanted {
  readonly why: string
  readonly isIn: (step: Step, reference: StepResult, next: StepResult) => boolean
}

const has = ({ lines }: StepResult, beginning: string): boolean =>
  lines.some((line) => line.startsWith(beginning))

const WANTED: readonly Wanted[] = [
  {
    why: 'a run of some entries also makes what their changes need, and only they count against the limits',
    isIn: ({ only }) => only !== undefined,
  },
  { why: 'what was asked stays asked', isIn: (_step, _reference, next) => has(next, 'block asked') },
  {
    why: 'a change in quarantine that a complete run does not want is tried when it is wanted again',
    isIn: (_step, old, next) => has(old, 'notice quarantined') && !has(next, 'block quarantine'),
  },
  {
    why: 'a group whose DN another entry has now may be the same, so its members stay until an operator decides',
    isIn: (_step, _reference, next) =>
      next.lines.some((line) => /^block group-emptied .*"delete"\]/.test(line)),
  },
]

/** Up to the first decision, the service is as 3168b636 leaves it: decisions are about keys now. */
export function testNext(from: number, to: number): void {
  test(
    `the next run leaves the service alike in the worlds ${from} to ${to - 1}`,
    { timeout: 3_000_000 },
    async () => {
      const differing: string[] = []
      for (let seed = from; seed < to; seed += 1) {
        const difference = await differenceOf(seed)
        if (difference !== undefined) differing.push(difference)
      }
      expect(differing.slice(0, WORLDS_SHOWN).join('\n\n')).toBe('')
    },
  )
}

const WORLDS_SHOWN = 5

async function differenceOf(seed: number): Promise<string | undefined> {
  forgetNames()
  const story = makeStory(seed)
  const old = await playSteps(story, reference)
  const now = await playNext(story)
  for (const [place, step] of story.steps.entries()) {
    const [was, is] = [old[place], now[place]]
    if (was === undefined || is === undefined) return undefined
    if (was.after !== is.after) {
      if (WANTED.some(({ isIn }) => isIn(step, was, is))) return undefined
      return `world ${seed} (${story.theme}), step ${place + 1}:\n${was.lines.join('\n')}\n---\n${is.lines.join('\n')}`
    }
    if (step.decides.length > 0) return undefined
  }
  return undefined
}
