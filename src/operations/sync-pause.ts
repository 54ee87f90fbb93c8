import { pointInTime } from '../base/wording.ts'
import { printable } from '../base/printable.ts'

export interface SyncPause {
  readonly sync: string
  readonly by: string
  readonly reason: string | null
  /** ISO 8601, UTC. */
  readonly since: string
}

/** `corp has been paused since 2026-11-25 07:29:03Z by ana (undo of run 12); dirsyncd resume corp ends it` */
export function pauseText({ sync, by, reason, since }: SyncPause): string {
  const why = reason === null ? '' : ` (${printable(reason)})`
  return `${sync} has been paused since ${pointInTime(since)} by ${printable(by)}${why}; dirsyncd resume ${sync} ends it`
}

/** For a pause request where an earlier pause stays; `undefined` where the requested pause was made. */
export function earlierPauseText(
  pause: SyncPause,
  { by, reason }: { readonly by: string; readonly reason?: string },
): string | undefined {
  if (pause.by === by && (reason === undefined || pause.reason === reason)) return undefined
  return `${pauseText(pause)}. It was paused before you asked, so your name and reason are not recorded`
}
