import { DirsyncdError } from '../../base/errors.ts'
import { type Endpoint, endpoints, type Operation } from '../contract/endpoints.ts'
import { NoAnswer } from './answer.ts'
import { accessCases } from './cases/access.ts'
import type { Case, Row } from './cases/case.ts'
import { goodCase } from './cases/good.ts'
import { idCases } from './cases/ids.ts'
import { inputCases } from './cases/input.ts'
import { listCases } from './cases/lists.ts'
import { pagingCases } from './cases/paging.ts'
import { queryCases } from './cases/query.ts'
import { Probing } from './probing.ts'
import type { TestedService } from './tested-service.ts'
import { tryCase } from './try-case.ts'
import type { Result } from './verdict.ts'

export type { TestedService } from './tested-service.ts'
export type { Result } from './verdict.ts'

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
  const probing = new Probing(tested, signal)
  try {
    await requireAccess(probing)
  } catch (error) {
    await probing[Symbol.asyncDispose]()
    throw error
  }
  return {
    check: (operation) => checkEndpoint(probing, operation),
    async close() {
      const left = await probing.clean()
      await probing[Symbol.asyncDispose]()
      return left
    },
  }
}

async function requireAccess(probing: Probing): Promise<void> {
  const { baseUrl, directoryId, organizationId } = probing.tested
  try {
    const { status } = await probing.sendUntilAnswered('getDirectory')
    if (status === 401) {
      throw new DirsyncdError(
        'token-refused',
        `${baseUrl} refuses the token (401); check the directory's token.`,
      )
    }
    if (status === 404) {
      throw new DirsyncdError(
        'directory-unknown',
        `${baseUrl} has no directory ${directoryId} in organization ${organizationId}; check both ids.`,
      )
    }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    throw new DirsyncdError('directory-unreachable', `${baseUrl} does not answer: ${error.message}.`, {
      cause: error,
    })
  }
}

async function* checkEndpoint(probing: Probing, operation: Operation): AsyncGenerator<Result> {
  const endpoint: Endpoint = endpoints[operation]
  const row = { operation, endpoint }
  for (const each of casesOf(row)) yield await tryCase(probing, row, each)
}

function casesOf(row: Row): readonly Case[] {
  return [
    goodCase(row),
    ...accessCases(row),
    ...idCases(row),
    ...inputCases(row),
    ...listCases(row),
    ...queryCases(row),
    ...pagingCases(row),
  ]
}
