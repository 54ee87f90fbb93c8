export type Kind = 'user' | 'group'

/** `undefined`: the source has no value for the field; the directory's value is kept, never cleared. */
export interface UserEntry {
  readonly id: string
  readonly email: string | undefined
  readonly name: string | undefined
  /** Sent on create, and never compared, because no answer of the API shows it. */
  readonly employeeId: string | undefined
  /** A DN, or a file name and a line. */
  readonly from: string
}

export interface GroupEntry {
  readonly id: string
  readonly name: string
  /** Ids of users that were read, without duplicates, sorted by code unit. */
  readonly members: readonly string[]
  readonly from: string
}

export interface DirectoryUser {
  readonly id: string
  readonly email: string | null
  readonly name: string | null
}

/** Members as the API listed them, sorted by code unit. */
export interface DirectoryGroup {
  readonly id: string
  readonly name: string
  readonly members: readonly string[]
}

/** Ids by code unit: the members that a group gets and loses. */
export interface MemberDifference {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}
