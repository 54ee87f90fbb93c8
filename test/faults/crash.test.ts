import { test } from 'vitest'
import { testKills } from './crash.ts'

test(
  'a daemon is killed at a random point of a run: the work goes on and nothing is done twice',
  { timeout: 900_000 },
  () => testKills('postgres', ['daemon'], 1),
)
