import type { Kysely } from 'kysely'
import { isAway } from '../../base/database/outage.ts'
import { DirsyncdError, type ErrorCode, sentence, systemCode } from '../../base/errors.ts'
import { newestRuns, partsOf } from '../../store/diagnostics.ts'
import type { Tables } from '../../store/tables.ts'
import { type Redaction, redact } from './redact.ts'

/** A part of a bundle that could not be read. */
export interface Missing {
  readonly part: string
  readonly code: ErrorCode
  /** Such as `ECONNREFUSED`, or of SQL. */
  readonly system?: string | undefined
  /** May name users: for the operator, and in a bundle only redacted. */
  readonly text: string
}

export function missingPart(part: string, error: unknown): Missing {
  const isOurs = error instanceof DirsyncdError
  const system = systemCode(isOurs ? error.cause : error)
  return { part, code: isOurs ? error.code : 'internal', system, text: sentence(error) }
}

export interface Diagnostics {
  /** Rows by part, without names. */
  readonly facts: Readonly<Record<string, unknown>>
  readonly missing: readonly Missing[]
}

/**
 * Reads the state of runs and syncs. A part that cannot be read is left out. Throws where the store is unavailable,
 * because each further read would wait for it too.
 */
export async function diagnose(db: Kysely<Tables>, redaction: Redaction): Promise<Diagnostics> {
  const missing: Missing[] = []
  const rowsOf = async <Row>(part: string, read: () => Promise<readonly Row[]>): Promise<readonly Row[]> => {
    try {
      return await read()
    } catch (error) {
      if (isAway(error)) throw error
      missing.push(missingPart(part, error))
      return []
    }
  }
  const runs = await rowsOf('runs', () => newestRuns(db))
  const facts: Record<string, unknown> = { runs: runs.map((run) => redact(run, redaction)) }
  for (const [part, query] of Object.entries(partsOf(runs.map(({ run }) => run)))) {
    const rows = await rowsOf(part, async () => (await query.execute(db)).rows)
    facts[part] = rows.map((row) => redact(row, redaction))
  }
  return { facts, missing }
}
