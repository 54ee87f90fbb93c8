import { type Command, Option } from 'commander'
import { type PartName, PARTS } from '../../operations/control.ts'
import type { Part } from '../../core/plan/part/part.ts'
import { repeatedName } from '../../base/terminal/arguments.ts'

export interface PartOptions {
  readonly only?: readonly PartName[] | undefined
  readonly users?: boolean
  readonly groups?: boolean
  readonly id?: readonly string[]
}

export function addPartOptions(command: Command): Command {
  return command
    .addOption(new Option('--only <name...>', 'Only changes of these names.').choices(PARTS))
    .option('--users', 'Only changes of users.')
    .option('--groups', 'Only changes of groups and their members.')
    .option(
      '--id <id>',
      'Only what concerns this user or group, by external id; may be given several times.',
      repeatedName,
    )
}

export function partOf({ only, users = false, groups = false, id }: PartOptions): Part {
  const kinds = [...(users ? (['user'] as const) : []), ...(groups ? (['group'] as const) : [])]
  return {
    ...(only !== undefined && { names: only }),
    ...(kinds.length === 1 && { kinds }),
    ...(id !== undefined && { ids: id }),
  }
}
