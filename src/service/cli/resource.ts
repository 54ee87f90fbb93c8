import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Flag, flagsOf } from '../resources/flags.ts'
import type { Resource } from '../resources/resource.ts'
import type { ResourceName } from '../resources/resources.ts'
import { digits } from '../../base/wording.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { printable } from '../../base/printable.ts'
import { named, repeated, wholeNumber } from '../../base/terminal/arguments.ts'
import type { Runner, Session } from './context.ts'
import { printResult, printRows, withService } from './admin.ts'
import { repeatedId } from './id.ts'
import { readSecrets } from './secrets-file.ts'

type Options = Readonly<Record<string, string | number | boolean | readonly (string | number)[]>>
type Row = Readonly<Record<string, unknown>> & { readonly id: number }
type Named = Resource & { readonly name: ResourceName }

export function addResource(service: Command, run: Runner, resource: Named): void {
  const { name, withArticle, owner, purpose } = resource
  const group = service.command(name).description(purpose)
  const toCreate = group.command('create').description(`Create ${withArticle}.`)
  if (owner !== undefined)
    toCreate.requiredOption(`--${owner} <number>`, `The ${owner} that it belongs to.`, wholeNumber)
  for (const flag of flagsOf(resource)) addCreateOption(toCreate, flag)
  toCreate
    .addHelpText('after', example(`${name} create ${resource.example}`))
    .action((options: Options) => run((session) => create(session, resource, options)))
  const toChange = group
    .command('change')
    .description(`Change ${withArticle}; what is not given stays.`)
    .argument('<id>', 'Its id, as the list shows it.', wholeNumber)
  for (const flag of flagsOf(resource)) addChangeOptions(toChange, flag)
  toChange
    .addHelpText('after', example(`${name} change 1 --name "Another name"`))
    .action((id: number, options: Options) => run((session) => change(session, resource, id, options)))
  group
    .command('remove')
    .description(`Remove ${withArticle}.`)
    .argument('<id>', 'Its id, as the list shows it.', wholeNumber)
    .option(
      '--with-contents',
      'Also remove all that belongs to it. Without this option, a resource that is not empty stays.',
    )
    .addHelpText('after', example(`${name} remove 1`))
    .action((id: number, options: { withContents?: boolean }) =>
      run((session) => remove(session, resource, id, options.withContents === true)),
    )
  addList(group, run, resource)
}

function example(line: string): string {
  return `\nExamples:\n  access-service ${line}`
}

function addList(group: Command, run: Runner, resource: Named): void {
  const { name, owner } = resource
  const toList = group.command('list').description('List them.')
  if (owner !== undefined) toList.option(`--${owner} <number>`, `Only those of this ${owner}.`, wholeNumber)
  toList
    .addHelpText('after', example(`${name} list --json | jq .id`))
    .action((options: Options) => run((session) => list(session, resource, options)))
}

function addCreateOption(command: Command, flag: Flag): void {
  const { kind, required, onByDefault } = flag
  const names = `--${onByDefault ? 'no-' : ''}${flag.name}${argumentOf(kind)}`
  const description = `${onByDefault ? 'Not: ' : ''}${flag.description}${isList(kind) ? ' Once for each.' : ''}`
  command.addOption(parsed(new Option(names, description), flag).makeOptionMandatory(required))
}

/** Single items are added to a list and removed, without repeating the others. */
function addChangeOptions(command: Command, flag: Flag): void {
  const { name, kind, description } = flag
  if (isList(kind)) {
    command.addOption(parsed(new Option(`--add-${name}${argumentOf(kind)}`, `Add: ${description}`), flag))
    command.addOption(
      parsed(new Option(`--remove-${name}${argumentOf(kind)}`, `Remove: ${description}`), flag),
    )
    return
  }
  command.addOption(parsed(new Option(`--${name}${argumentOf(kind)}`, description), flag))
  if (kind === 'switch') command.option(`--no-${name}`, `Not: ${description}`)
}

function isList(kind: Flag['kind']): boolean {
  return kind === 'texts' || kind === 'numbers'
}

function argumentOf(kind: Flag['kind']): string {
  if (kind === 'switch') return ''
  return { text: ' <text>', texts: ' <text>', number: ' <number>', numbers: ' <number>', file: ' <file>' }[
    kind
  ]
}

function parsed(option: Option, { kind, choices }: Flag): Option {
  if (choices !== undefined) return option.choices(choices)
  if (kind === 'number') return option.argParser(numberOf)
  if (kind === 'texts') return option.argParser(repeated)
  if (kind === 'file') return option.argParser(named)
  if (kind === 'numbers') return option.argParser(repeatedId)
  return option
}

function numberOf(value: string): number {
  if (/^\d+$/.test(value)) return Number(value)
  throw new InvalidArgumentError('It must be a whole number.')
}

async function create(session: Session, resource: Named, options: Options): Promise<number> {
  const { name, owner } = resource
  const values = await valuesOf(resource, options)
  const ownerId = owner === undefined ? undefined : (options[owner] as number)
  const made = await withService(session, (admin) =>
    admin.perform('createResource', { resource: name, ownerId, values }),
  )
  printResult(session, made, `${titleOf(resource, made)} is created.`)
  return 0
}

async function change(session: Session, resource: Named, id: number, options: Options): Promise<number> {
  const values = await valuesOf(resource, options)
  const lists = { add: listsOf(resource, options, 'add'), remove: listsOf(resource, options, 'remove') }
  const given = [values, lists.add, lists.remove].flatMap((each) => Object.keys(each))
  if (given.length === 0) throw nothingToChange(resource)
  const input = { resource: resource.name, id, values, ...lists }
  const changed = await withService(session, (admin) => admin.perform('changeResource', input))
  const done = changed.changed ? 'is changed' : 'was like that already; nothing is changed'
  printResult(session, changed, `${titleOf(resource, changed)} ${done}.`)
  return 0
}

function nothingToChange({ name }: Named): DirsyncdError {
  const help = `access-service ${name} change --help`
  return new DirsyncdError('usage', `Say what to change, such as --name NAME; ${help} lists the options.`)
}

async function remove(session: Session, resource: Named, id: number, withContents: boolean): Promise<number> {
  const input = { resource: resource.name, id, withContents }
  const removed = await withService(session, (admin) => admin.perform('removeResource', input))
  const contents = removed.with === '' ? '' : `, with ${removed.with}`
  printResult(session, removed, `${titleOf(resource, removed)} is removed${contents}.`)
  return 0
}

/** By field. Items to add to a list or to remove from it are in `listsOf`. */
async function valuesOf(resource: Named, options: Options): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  for (const { name, path, kind } of flagsOf(resource)) {
    const given = options[keyOf(name)]
    if (given === undefined) continue
    put(values, path, typeof given === 'string' && kind === 'file' ? await readSecrets(given) : given)
  }
  return values
}

function listsOf(
  resource: Named,
  options: Options,
  what: 'add' | 'remove',
): Record<string, (string | number)[]> {
  const lists = flagsOf(resource).flatMap(({ name, path }) => {
    const given = options[keyOf(`${what}-${name}`)]
    return given === undefined ? [] : [[path.join('.'), given] as const]
  })
  return Object.fromEntries(lists) as Record<string, (string | number)[]>
}

/** The key of commander: `addDomain` for `add-domain`. */
function keyOf(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function put(
  values: Record<string, unknown>,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) values[first] = value
  else put((values[first] ??= {}) as Record<string, unknown>, rest, value)
}

async function list(session: Session, resource: Named, options: Options): Promise<number> {
  const { name, owner, listed } = resource
  const ownerId = owner === undefined ? undefined : (options[owner] as number | undefined)
  const rows = await withService(session, (admin) =>
    admin.perform('listResources', { resource: name, ownerId }),
  )
  const fields = [...(owner === undefined ? [] : [owner]), ...listed]
  printRows<Row>(session, rows, {
    head: ['ID', ...fields.map((field) => HEADS[field] ?? field.toUpperCase())],
    cells: (row) => [String(row.id), ...fields.map((field) => cellOf(row[field], field === owner))],
    none: `There are none; access-service ${name} create makes one.`,
  })
  return 0
}

const HEADS: Readonly<Record<string, string>> = {
  allowedDomains: 'DOMAINS',
  email: 'E-MAIL',
  target_type: 'TYPE',
  login_method: 'LOGIN',
}

/** Of a list of ids only their number, because it may be long. */
function cellOf(value: unknown, isId: boolean): string {
  if (typeof value === 'number') return isId ? String(value) : digits(value)
  if (typeof value === 'string') return printable(value)
  if (!Array.isArray(value)) return ''
  return value.every((each) => typeof each === 'number') ? digits(value.length) : printable(value.join(', '))
}

/** `Contact 1, Directory Sync, of organization 1`. */
function titleOf({ name, owner }: Named, row: Row): string {
  const kind = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const of = owner === undefined ? '' : ` of ${owner} ${String(row[owner])}`
  return `${kind} ${row.id}, ${printable(String(row['name']))},${of}`
}
