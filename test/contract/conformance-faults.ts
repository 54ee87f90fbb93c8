import type { Result } from '../../src/conformance/conformance.ts'
import { type RunningService, startForTest } from '../support/service.ts'
import { wideFixture } from './wide-fixture.ts'

/** Starts a service that answers some of the requests wrongly, at random. */
export function startFaulty(seed: number): Promise<RunningService> {
  const faults = `500=0.02,429=0.01:50ms,drop-before=0.01,drop-after=0.01,seed=${seed}`
  return startForTest({ fixture: wideFixture(), faults })
}

export function linesOf(results: readonly Result[], state: Result['state']): string[] {
  return results
    .filter((result) => result.state === state)
    .map(({ number, probe, reason, differences }) => {
      const texts = differences.map(({ expected, actual }) => `expected ${expected}, got ${actual}`)
      return `#${number} ${probe}: ${reason ?? texts.join(' and ')}`
    })
}
