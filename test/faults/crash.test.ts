import { test } from 'vitest'
import { testKills } from './crash.ts'

test('a daemon and a worker are killed at random points of a run: the work goes on and nothing is done twice', () =>
  testKills('postgres', 1))
