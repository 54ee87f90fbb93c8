import { test } from 'vitest'
import { type Backend, testKills } from './crash.ts'

test.each<Backend>(['embedded', 'postgres', 'redis'])(
  'processes that are killed twice at random points of a run on %s: the work goes on and nothing is done twice',
  (backend) => testKills(backend, 2),
)
