import type { Position, ServerEvidence } from '../../../core/entries/position.ts'

export type ServerState = Pick<ServerEvidence, 'database' | 'position' | 'hints'>

export interface ContextState {
  /** As a normal DN. */
  readonly context: string
  readonly database: string | undefined
  /** The newest change of each origin; `undefined` where it is not shown. */
  readonly origins: ReadonlyMap<string, string> | undefined
}

/** Several naming contexts count only together: a part would hide what the others lack. */
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
