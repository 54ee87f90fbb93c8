import { expect, test } from 'vitest'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('store-trouble')

test.each([
  [
    '53100',
    'The disk of the store is full: could not extend. Free space there; the next run begins anew.',
    'store-unavailable',
  ],
  ['XX001', /^The store is damaged, or its disk is: could not extend\. Check the disk/, 'store-unavailable'],
  ['22012', /^could not extend$/, 'internal'],
])(
  'a store that fails a statement with %s fails the run with words for a person',
  async (state, words, code) => {
    const { executor, requestRun, waitForEnd, codes } = bed.open()
    bed.company.users.set('a', { name: 'a', email: 'a@example.org' })
    await bed.opened.store.pool.query(`
    create function dirsyncd.fail() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend' using errcode = '${state}'; end $$;
    create trigger fail before insert on dirsyncd.changes for each row execute function dirsyncd.fail()`)
    const run = await requestRun()
    await executor.work(bed.sync, { scheduled: false })
    await bed.opened.store.pool.query('drop function dirsyncd.fail cascade')
    expect((await waitForEnd(run)).error).toMatch(words)
    expect(codes()).toEqual([code])
  },
)
