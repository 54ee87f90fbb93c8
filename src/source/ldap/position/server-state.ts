import type { Position, ServerEvidence } from '../../../core/entries/evidence.ts'

/** What a server says of its data at one moment. */
export type ServerState = Pick<ServerEvidence, 'database' | 'position' | 'hints'>

/** What a server says of one naming context. */
export interface ContextState {
  /** As a normal DN. */
  readonly context: string
  readonly database: string | undefined
  /** For each origin of changes the newest one; `undefined` where the server does not show it. */
  readonly origins: ReadonlyMap<string, string> | undefined
}

/** Of several naming contexts only the whole is something: a part would hide what the others lack. */
export function unite(states: readonly ContextState[], hints: ServerState['hints'] = {}): ServerState {
  return { database: databaseOf(states), position: positionOf(states), hints }
}

function databaseOf(states: readonly ContextState[]): string | undefined {
  if (states.length === 0 || states.some(({ database }) => database === undefined)) return undefined
  return states.map(({ context, database }) => `${context} ${database}`).join('; ')
}

function positionOf(states: readonly ContextState[]): Position | undefined {
  const position: Record<string, string> = {}
  for (const { context, origins } of states) {
    if (origins === undefined) return undefined
    for (const [origin, value] of origins) position[`${context} ${origin}`] = value
  }
  return states.length === 0 ? undefined : position
}
