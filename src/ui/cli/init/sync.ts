import { dataDirProblem, usualDataDir } from '../../../operations/init/stage.ts'
import { resolve } from 'node:path'
import { syncName } from '../../../config/schema.ts'
import { schedule } from '../../../config/schedule.ts'
import { checkNotEmpty, checkWith } from './check.ts'
import type { Init } from './context.ts'
import type { Check, Choice } from './prompts.ts'

export interface SyncAnswers {
  readonly name: string
  readonly schedule: string | undefined
  readonly dataDir: string
}

const NAME = 'corp'
const SCHEDULE = '15m'
const ON_DEMAND = 'never'

export const SYNC_TOPICS: readonly Choice<readonly string[]>[] = [
  { value: ['--sync', '--schedule', '--data-dir'], name: 'Name, schedule and folder of the sync' },
]

export async function askSync({ answers, options, file }: Init): Promise<SyncAnswers> {
  const name = await answers.text({
    flag: '--sync',
    given: options.sync,
    what: 'the name of the sync',
    message: 'Name of this sync, for commands and logs:',
    proposed: NAME,
    check: checkWith(syncName),
  })
  const when = await answers.text({
    flag: '--schedule',
    given: options.schedule,
    what: 'the schedule',
    message: `When it runs (an interval, a cron expression, or ${ON_DEMAND}):`,
    proposed: SCHEDULE,
    check: checkSchedule,
  })
  const dataDir = await answers.text({
    flag: '--data-dir',
    given: options.dataDir,
    what: 'the folder of the data',
    message: 'Folder for its data (runs, journal):',
    proposed: await usualDataDir(file),
    check: (folder) => checkNotEmpty(folder) ?? dataDirProblem(folder),
  })
  return { name, schedule: when === ON_DEMAND ? undefined : when, dataDir: resolve(dataDir) }
}

export const checkSchedule: Check = (value) => (value === ON_DEMAND ? undefined : checkWith(schedule)(value))
