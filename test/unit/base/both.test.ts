import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bothOrNeither } from '../../../src/base/both.ts'

const NEVER = new AbortController().signal

function failing(): Promise<never> {
  return Promise.reject(new Error('broken'))
}

test('two things that succeed are both there', async () => {
  const both = bothOrNeither(() => [Promise.resolve(1), sleep(1, 'b')], NEVER)
  expect(await both).toEqual([1, 'b'])
})

test.each(['the first', 'the second'])(
  'when %s fails the other one is told to stop, and waited for',
  async (which) => {
    const heard: string[] = []
    async function slow(signal: AbortSignal): Promise<never> {
      await sleep(1000, undefined, { signal }).catch(() => heard.push('told'))
      await sleep(50)
      heard.push('ended')
      throw new Error('stopped')
    }
    const both = bothOrNeither(
      (signal) => (which === 'the first' ? [failing(), slow(signal)] : [slow(signal), failing()]),
      NEVER,
    )
    await expect(both).rejects.toThrow('broken')
    expect(heard).toEqual(['told', 'ended'])
  },
)

test('who calls both off gets the reason, and not what they ended with', async () => {
  const off = new AbortController()
  const both = bothOrNeither((signal) => [sleep(1000, 1, { signal }), sleep(1000, 2, { signal })], off.signal)
  off.abort(new Error('shutdown'))
  await expect(both).rejects.toThrow('shutdown')
})
