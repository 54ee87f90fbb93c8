import type { DirectoryUser, UserEntry } from './entry.ts'
import { forEachInSteps, type Steps } from '../../base/steps.ts'
import { SIDE, type UserTable } from './user-table.ts'

/** The users of one side of a `UserTable` by external id. An entry is built on access. */
abstract class UsersOfSide<E> implements ReadonlyMap<string, E> {
  readonly table: UserTable
  readonly #side: (typeof SIDE)[keyof typeof SIDE]

  constructor(table: UserTable, side: keyof typeof SIDE) {
    this.table = table
    this.#side = SIDE[side]
    table.clear(this.#side)
  }

  abstract entryOf(row: number, id?: string): E

  get size(): number {
    return this.table.sizeOf(this.#side)
  }

  has(id: string): boolean {
    return this.table.find(id, this.#side) >= 0
  }

  get(id: string): E | undefined {
    const row = this.table.find(id, this.#side)
    return row < 0 ? undefined : this.entryOf(row, id)
  }

  *keys(): MapIterator<string> {
    for (const row of this.#rows()) yield this.table.idOf(row)
  }

  *values(): MapIterator<E> {
    for (const row of this.#rows()) yield this.entryOf(row)
  }

  *entries(): MapIterator<[string, E]> {
    for (const row of this.#rows()) yield [this.table.idOf(row), this.entryOf(row)]
  }

  [Symbol.iterator](): MapIterator<[string, E]> {
    return this.entries()
  }

  forEach(visit: (entry: E, id: string, users: ReadonlyMap<string, E>) => void): void {
    for (const [id, entry] of this) visit(entry, id, this)
  }

  isRow(row: number): boolean {
    return this.table.isOn(row, this.#side)
  }

  *#rows(): Generator<number, void> {
    for (let row = 0; row < this.table.rows; row += 1) if (this.isRow(row)) yield row
  }
}

export class SourceUsers extends UsersOfSide<UserEntry> {
  constructor(table: UserTable) {
    super(table, 'source')
  }

  /** Adds a user, unless the id exists. Returns the row. */
  add({ id, email, name, employeeId, from }: UserEntry): number | undefined {
    const row = this.table.rowOf(id, email, name)
    if (this.table.rowOn(SIDE.source, row) >= 0) return undefined
    this.table.put(row, SIDE.source)
    this.table.setOrigin(row, from, employeeId)
    return row
  }

  delete(id: string): void {
    const row = this.table.find(id, SIDE.source)
    if (row >= 0) this.table.remove(row, SIDE.source)
  }

  entryOf(row: number, id = this.table.idOf(row)): UserEntry {
    const { table } = this
    return {
      id,
      email: table.emailOf(row),
      name: table.nameOf(row),
      employeeId: table.employeeIdOf(row),
      from: table.fromOf(row),
    }
  }
}

export class DirectoryUsers extends UsersOfSide<DirectoryUser> {
  constructor(table: UserTable) {
    super(table, 'directory')
  }

  /** Adds a row of the table, unless its id exists. Returns whether it was added. */
  add(row: number): boolean {
    if (this.table.rowOn(SIDE.directory, row) >= 0) return false
    this.table.put(row, SIDE.directory)
    return true
  }

  entryOf(row: number, id = this.table.idOf(row)): DirectoryUser {
    const { table } = this
    return { id, email: table.emailOf(row) ?? null, name: table.nameOf(row) ?? null }
  }
}

/** In one table, users are compared by row; otherwise nothing is known beforehand. */
interface BothSides {
  readonly source: { readonly users: ReadonlyMap<string, UserEntry> }
  readonly directory: { readonly users: ReadonlyMap<string, DirectoryUser> }
}

function inOneTable(
  source: BothSides['source']['users'],
  directory: BothSides['directory']['users'],
): { readonly source: SourceUsers; readonly directory: DirectoryUsers } | undefined {
  if (!(source instanceof SourceUsers) || !(directory instanceof DirectoryUsers)) return undefined
  return source.table === directory.table ? { source, directory } : undefined
}

/** The users of the source without those known to be equal on both sides. */
export function* differingUsers({ source, directory }: BothSides): Generator<UserEntry, void> {
  const sides = inOneTable(source.users, directory.users)
  if (sides === undefined) yield* source.users.values()
  else for (const row of differingRows(sides.source)) yield sides.source.entryOf(row)
}

/** The ids of one side without users known to be equal on both. */
export function* differingIds(
  { source, directory }: BothSides,
  side: 'source' | 'directory',
): Generator<string, void> {
  const users = inOneTable(source.users, directory.users)?.[side]
  if (users === undefined) yield* (side === 'source' ? source : directory).users.keys()
  else for (const row of differingRows(users)) yield users.table.idOf(row)
}

function* differingRows(users: UsersOfSide<unknown>): Generator<number, void> {
  const { table } = users
  for (let row = 0; row < table.rows; row += 1) if (users.isRow(row) && !table.isOnBoth(row)) yield row
}

/** Includes all users whose e-mail another user of either side has; a few others may be among them. */
export function* sharingEmail({ source, directory }: BothSides): Steps<{
  readonly source: readonly UserEntry[]
  readonly directory: readonly DirectoryUser[]
}> {
  const sides = inOneTable(source.users, directory.users)
  if (sides === undefined)
    return { source: [...source.users.values()], directory: [...directory.users.values()] }
  const rows = yield* sides.source.table.rowsSharingEmail()
  return { source: yield* entriesOf(rows, sides.source), directory: yield* entriesOf(rows, sides.directory) }
}

function* entriesOf<E>(rows: readonly number[], users: UsersOfSide<E>): Steps<E[]> {
  const entries: E[] = []
  yield* forEachInSteps(rows, (row) => users.isRow(row) && entries.push(users.entryOf(row)))
  return entries
}
