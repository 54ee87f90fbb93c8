import type { UnconfirmedRemoval } from '../notice.ts'

/**
 * How new the data of a server is: the newest change of each origin (a server id, an invocation id, a replica id, each
 * behind its naming context). Values of one origin are digits or texts of fixed length: the longer one is newer, and of
 * equally long ones the one that sorts last.
 */
export type Position = Readonly<Record<string, string>>

export interface ServerEvidence {
  /** As configured: scheme, host and port. */
  readonly url: string
  readonly address: string
  /** Addresses behind the configured URLs; with more than one, the next read may reach another server. */
  readonly addresses: number
  /** `dc=example,dc=org ID` per naming context, joined by `; `. Positions are comparable within one database only. */
  readonly database: string | undefined
  /** At the end of the read, so the read has no later change; `undefined` where this account cannot read it. */
  readonly position: Position | undefined
  /** Before the first entry, if it has changed since: only changes up to here are certainly in the read. */
  readonly positionAtStart?: Position | undefined
  /** For a server without a position: another value means another or a newly filled server. */
  readonly hints: Readonly<Record<string, string>>
}

/** The server of the last good read, which is asked first. */
export type PreferredServer = Pick<ServerEvidence, 'url' | 'address'>

export interface LossLook {
  /** Members after all, of those that the group would lose: they were renamed during the read. */
  readonly stillMembers: readonly string[]
  /** Why the other removals are not confirmed; `undefined` where they are. */
  readonly unproved?: UnconfirmedRemoval | undefined
  /** The members whose removal is not proved, where it is not all of them. */
  readonly unprovedMembers?: readonly string[] | undefined
  /** The group has no member left, and a source other than its own list confirms it. */
  readonly provedEmpty?: boolean | undefined
}
