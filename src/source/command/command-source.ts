import type { Log } from '../../base/log/log.ts'
import type { Coverage, SourceSnapshot } from '../../core/entries/snapshot.ts'
import { Collector, notBlank } from '../collect.ts'
import { compileGroupMap, compileUserMap, type GroupMapping, type UserMapping } from '../mapping.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { type Finder, findInRead } from '../find.ts'
import { recheckByReading } from '../recheck-by-reading.ts'
import type { Source } from '../source.ts'
import type { CommandSourceOptions } from './options.ts'
import { type Printed, readOutput } from './output.ts'
import { probe } from './probe.ts'
import { nameOf } from './program.ts'

interface Maps {
  readonly user: UserMapping
  readonly group: GroupMapping | undefined
}

/** Throws `config-invalid`, naming the key, when the options cannot be used. */
export function createCommandSource(options: CommandSourceOptions, log: Log): Source {
  const maps = compileMaps(options)
  const read: Source['read'] = (signal, how) =>
    readAll(options, maps, new Collector(coversOf(maps), how?.table), signal, log)
  return {
    read,
    readIds: (kind, ids, signal) => recheckByReading(kind, ids, () => read(signal)),
    probe: () => probe(options),
    find: (wanted, signal) =>
      findInRead(wanted, `in what ${nameOf(options)} prints`, (finder) =>
        readAll(options, maps, new Collector(coversOf(maps)), signal, log, finder),
      ),
  }
}

function compileMaps({ command, users, groups, allowedDomains }: CommandSourceOptions): Maps {
  if ((command[0] ?? '') === '') throw new DirsyncdError('config-invalid', 'command: there is no program')
  return {
    user: compileUserMap(users.map, 'users.map', fieldProblem, allowedDomains),
    group: groups && compileGroupMap(groups.map, 'groups.map', fieldProblem),
  }
}

/** Only running the program shows which fields it prints. */
function fieldProblem(): undefined {
  return undefined
}

function coversOf({ group }: Maps): Coverage {
  return { groups: group !== undefined, members: (group?.members.length ?? 0) > 0 }
}

/** Users and groups may come in any order, so groups wait until every user is known. */
async function readAll(
  options: CommandSourceOptions,
  maps: Maps,
  collector: Collector,
  signal: AbortSignal,
  log: Log,
  finder?: Finder,
): Promise<SourceSnapshot> {
  const groups: PrintedGroup[] = []
  const counts = await readOutput(options, signal, (printed) => {
    if (printed.kind === 'user') takeUser(printed, maps.user, collector, finder)
    else if (maps.group !== undefined) groups.push(printedGroup(printed, maps.group, finder))
  })
  for (const { members, ...group } of groups) {
    const unknownMembers = members.filter((id) => !collector.knowsUser(id)).toSorted()
    collector.addGroup({ ...group, members: members.filter((id) => collector.knowsUser(id)), unknownMembers })
  }
  log.debug({ ...counts }, 'read a source')
  return collector.snapshot()
}

function takeUser(
  { lookup, from }: Printed,
  map: UserMapping,
  collector: Collector,
  finder: Finder | undefined,
): void {
  const user = { ids: notBlank(lookup(map.id)), idName: map.id, from, ...map.fieldsOf(lookup) }
  finder?.see('user', { ...user, lookup }, map)
  collector.addUser(user)
}

interface PrintedGroup {
  readonly ids: readonly string[]
  readonly idName: string
  readonly from: string
  readonly name: string | undefined
  readonly faults: readonly string[]
  readonly members: readonly string[]
}

function printedGroup(
  { lookup, from }: Printed,
  map: GroupMapping,
  finder: Finder | undefined,
): PrintedGroup {
  const members = [...new Set(notBlank(map.members.flatMap((field) => lookup(field))))]
  const group = { ids: notBlank(lookup(map.id)), idName: map.id, from, ...map.fieldsOf(lookup) }
  finder?.see('group', { ...group, lookup, members: members.length }, map)
  return { ...group, members }
}
