/** The two kinds of entries that a directory holds. */
export type Kind = 'user' | 'group'

/**
 * A user as the source wants it. `undefined` means that the source has no value for the field; the directory's value is
 * then kept, never cleared.
 */
export interface UserEntry {
  readonly id: string
  readonly email: string | undefined
  readonly name: string | undefined
  /** Sent when the user is created, and never compared, because no answer of the API shows it. */
  readonly employeeId: string | undefined
  /** Where the entry was read: a DN, or a file name and a line. */
  readonly from: string
}

/** A group as the source wants it. */
export interface GroupEntry {
  readonly id: string
  readonly name: string
  /** The ids of the users that are members, without duplicates, sorted by code unit. */
  readonly members: readonly string[]
  readonly from: string
}

/** A user as the directory holds it. */
export interface DirectoryUser {
  readonly id: string
  readonly email: string | null
  readonly name: string | null
}

/** A group as the directory holds it; members as the API listed them, sorted by code unit. */
export interface DirectoryGroup {
  readonly id: string
  readonly name: string
  readonly members: readonly string[]
}
