import { type Endpoint, endpoints, type Operation } from '../contract/endpoints.ts'
import type { Case, Row } from './cases/case.ts'
import { goodCase } from './cases/good.ts'
import { listCases } from './cases/lists.ts'
import { pagingCases } from './cases/paging.ts'
import { queryCases } from './cases/query.ts'
import { refusalCases } from './cases/refusals.ts'
import { Session } from './session.ts'
import type { TestedService } from './tested-service.ts'
import { requireAccess, tryCase } from './try-case.ts'
import type { Result } from './result.ts'

export type { TestedService } from './tested-service.ts'
export type { Result } from './result.ts'

export interface Conformance {
  /** The results of every case of one endpoint, the good case first. */
  check(operation: Operation): AsyncGenerator<Result>
  /**
   * Deletes the created entries and restores the changed ones, also after an error or an abort. Returns one sentence
   * for each entry that could not be deleted or restored.
   */
  close(): Promise<readonly string[]>
}

/**
 * Throws a `DirsyncdError` if the comparison would be useless: `directory-unreachable`, `token-refused` or
 * `directory-unknown`.
 */
export async function openConformance(tested: TestedService, signal: AbortSignal): Promise<Conformance> {
  const session = new Session(tested, signal)
  try {
    await requireAccess(session)
  } catch (error) {
    await session[Symbol.asyncDispose]()
    throw error
  }
  return {
    check: (operation) => checkEndpoint(session, operation),
    async close() {
      const left = await session.clean()
      await session[Symbol.asyncDispose]()
      return left
    },
  }
}

async function* checkEndpoint(session: Session, operation: Operation): AsyncGenerator<Result> {
  const endpoint: Endpoint = endpoints[operation]
  const row = { operation, endpoint }
  for (const each of casesOf(row)) yield await tryCase(session, row, each)
}

function casesOf(row: Row): readonly Case[] {
  return [goodCase(row), ...refusalCases(row), ...listCases(row), ...queryCases(row), ...pagingCases(row)]
}
