import type { GroupMap, UserMap } from '../mapping.ts'

export interface CsvFile<M> {
  readonly path: string
  /** One character. */
  readonly delimiter: string
  readonly encoding: 'utf8'
  /** Attributes are the names of columns. */
  readonly map: M
}

export interface MembersMap {
  /** The column with the group's id. */
  readonly group: string
  /** The column with the user's id. */
  readonly user: string
}

export interface CsvSourceOptions {
  readonly users: CsvFile<UserMap>
  readonly groups?: CsvFile<Omit<GroupMap, 'members'>>
  readonly members?: CsvFile<MembersMap>
}
