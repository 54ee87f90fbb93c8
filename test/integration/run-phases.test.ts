import { expect, test } from 'vitest'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('phases')

test('a run has let go of all that it read, and its phases have ended, before the work after it begins', async () => {
  const events: string[] = []
  bed.hire('ana')
  const harness = await bed.openWithWorker({
    onRead: async (_signal, how) => {
      const table = how!.table!
      const release = table.release.bind(table)
      table.release = () => {
        events.push('released')
        release()
      }
    },
    told: {
      onPhase: (_sync, phase) => events.push(phase),
      // Notifications are sent then, and the retention follows.
      onRunEnd: async () => void events.push('after the run'),
    },
  })
  expect(await harness.sync()).toMatchObject({ state: 'done' })
  expect(events).toEqual(['read', 'plan', 'apply', 'released', 'after the run'])
})
