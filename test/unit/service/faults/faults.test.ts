import { describe, expect, test } from 'vitest'
import { drawFault, parseFaults, seededRandom } from '../../../../src/service/faults/faults.ts'

describe('faults', () => {
  test('are read with their shares and waits', () => {
    const faults = parseFaults(
      '500=0.1, 429=0.2:2s,latency=0.1:200ms,drop-before=0.05,drop-after=0.05,limit=50/1s',
    )
    expect(faults.shares).toEqual([
      { kind: '500', share: 0.1, wait: 0 },
      { kind: '429', share: 0.2, wait: 2000 },
      { kind: 'latency', share: 0.1, wait: 200 },
      { kind: 'drop-before', share: 0.05, wait: 0 },
      { kind: 'drop-after', share: 0.05, wait: 0 },
    ])
    expect(faults.limit).toEqual({ requests: 50, per: 1000 })
  })

  test('may add up to all requests', () => {
    const text = Array.from(
      ['500', '429', 'latency', 'drop-before', 'drop-after'],
      (kind) => `${kind}=0.2`,
    ).join()
    expect(parseFaults(text).shares).toHaveLength(5)
  })

  test.each([
    ['', 'has no "="'],
    ['500', 'has no "="'],
    ['501=0.1', '"501" is not a fault'],
    ['toString=0.1', '"toString" is not a fault'],
    ['500=10', 'must be a number from 0 to 1'],
    ['500=', 'must be a number from 0 to 1'],
    ['500=-0.1', 'must be a number from 0 to 1'],
    ['500=0.1,500=0.1', '"500" is there twice'],
    ['500=0.6,429=0.6', 'more than 1'],
    ['500=0.1:1s', '"500" takes no duration'],
    ['latency=0.1:200', 'must be like "200ms"'],
    ['limit=50', 'must be like "50/1s"'],
    ['limit=0/1s', 'must be like "50/1s"'],
    ['limit=5/0s', 'must be like "200ms"'],
    ['seed=x', 'not a whole number'],
  ])('"%s" is refused', (text, why) => {
    expect(() => parseFaults(text)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(why) }),
    )
  })

  test('are drawn by their shares, and the same ones for the same seed', () => {
    const drawn = drawMany('500=0.1,drop-after=0.2,seed=42')
    expect(drawMany('500=0.1,drop-after=0.2,seed=42')).toEqual(drawn)
    const share = (kind: string) => drawn.filter((each) => each === kind).length / drawn.length
    expect(share('500')).toBeCloseTo(0.1, 1)
    expect(share('drop-after')).toBeCloseTo(0.2, 1)
    expect(share('none')).toBeCloseTo(0.7, 1)
  })

  test('a share of 1 gets every request', () => {
    const faults = parseFaults('429=1')
    expect(Array.from({ length: 1000 }, () => drawFault(faults)?.kind).every((kind) => kind === '429')).toBe(
      true,
    )
  })

  test('seeded numbers are from 0 up to 1', () => {
    const random = seededRandom(7)
    const numbers = Array.from({ length: 10_000 }, random)
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...numbers)).toBeLessThan(1)
    expect(new Set(numbers).size).toBeGreaterThan(9990)
  })
})

function drawMany(text: string): string[] {
  const faults = parseFaults(text)
  return Array.from({ length: 10_000 }, () => drawFault(faults)?.kind ?? 'none')
}
