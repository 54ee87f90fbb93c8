import { expect, test } from 'vitest'
import { makeStory } from './make-story.ts'
import { forgetNames } from './names.ts'
import { playNext } from './next.ts'
import { playSteps } from './play.ts'
import { reference } from './reference.ts'

test('the next decider', { timeout: 1_000_000 }, async () => {
  const [from = 0, to = 200] = (process.env['NET'] ?? '0-200').split('-').map(Number)
  const differing: string[] = []
  const byTheme = new Map<string, number>()
  for (let seed = from; seed < to; seed += 1) {
    forgetNames()
    const story = makeStory(seed)
    const old = await playSteps(story, reference)
    const now = await playNext(story).catch((error: Error) => String(error.stack))
    if (typeof now === 'string') {
      differing.push(`${seed} ${story.theme}: ${now.slice(0, 600)}`)
      continue
    }
    let isDecided = false
    for (const [place, step] of story.steps.entries()) {
      const [a, b] = [old[place], now[place]]
      if ((isDecided && process.env['DECIDED'] === undefined) || a === undefined || b === undefined) break
      if (a.after !== b.after) {
        const known = [
          'quarantined-email',
          'never-kept-and-held',
          'nested-renamed-to-another',
          'email-claim-single-entries',
        ]
        if (
          known.includes(story.theme) ||
          story.steps.slice(0, place + 1).some(({ only }) => only !== undefined)
        )
          break
        byTheme.set(story.theme, (byTheme.get(story.theme) ?? 0) + 1)
        differing.push(
          `${seed} ${story.theme} step ${place + 1}\n${story.steps
            .slice(0, place)
            .map((_, i) => `   was ${old[i]!.lines.join(' | ')}\n   new ${(now[i] as any).lines.join(' | ')}`)
            .join('\n')}\n  ${a.lines.join('\n  ')}\n   ---\n  ${b.lines.join('\n  ')}`,
        )
        break
      }
      isDecided ||= step.decides.length > 0
    }
  }
  console.log(differing.slice(0, 40).join('\n\n'))
  console.log([...byTheme].map(([theme, count]) => `${theme} ${count}`).join(', '))
  expect(differing.length).toBe(0)
})
