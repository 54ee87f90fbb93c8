/**
 * How new the data of a server is: for each origin of changes (a server id, an invocation id, a replica id, each behind
 * its naming context) the newest change that the server has. Values of one origin have one form: digits, or a text of
 * fixed length, so that the longer one is newer, and of equally long ones the one that sorts last.
 */
export type Position = Readonly<Record<string, string>>

/** Which server a read came from, and how new its data was. */
export interface ServerEvidence {
  /** As configured: scheme, host and port. */
  readonly url: string
  /** The IP address that was reached. */
  readonly address: string
  /** How many addresses the configured URLs stand for; with more than one, the next read may be of another server. */
  readonly addresses: number
  /**
   * What the server calls its databases: `dc=example,dc=org ID`, each behind its naming context, joined by `; `. A
   * position says something about the same database only.
   */
  readonly database: string | undefined
  /**
   * Where it was when the read ended, so that the read has no change after it; `undefined` where the server does not
   * show it to this reader.
   */
  readonly position: Position | undefined
  /**
   * Where it was before the first entry, if it went on since: only up to there it is sure that the read has every
   * change.
   */
  readonly positionAtStart?: Position | undefined
  /** What a server without a position shows of itself: another value means another or a newly filled server. */
  readonly hints: Readonly<Record<string, string>>
}

/** The server to ask first: that of the last good read. */
export type PreferredServer = Pick<ServerEvidence, 'url' | 'address'>

/** What a second look at a group that would lose members found. */
export interface LossLook {
  /**
   * Of the users that the group would lose, those who are in it all the same: they were renamed while they were read.
   */
  readonly stillMembers: readonly string[]
  /** Why the other losses are not proved, in one sentence without a full stop; `undefined` where they are. */
  readonly unproved?: string | undefined
  /** Whose losses are not proved, where it is not all of them. */
  readonly unprovedMembers?: readonly string[] | undefined
  /** The group has no member left, and something other than its own list says so too. */
  readonly provedEmpty?: boolean | undefined
}
