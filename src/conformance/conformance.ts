import { DirsyncdError } from '../errors.ts'
import { type Endpoint, endpoints, type Operation } from '../contract/endpoints.ts'
import { accessCases } from './cases/access.ts'
import type { Case, Row } from './cases/case.ts'
import { goodCase } from './cases/good.ts'
import { idCases } from './cases/ids.ts'
import { inputCases } from './cases/input.ts'
import { listCases } from './cases/lists.ts'
import { pagingCases } from './cases/paging.ts'
import { queryCases } from './cases/query.ts'
import { isNoAnswer, Probing, requireWrites } from './probing.ts'
import type { TestedService } from './tested-service.ts'
import { differs, NO_DIFFERENCES, Unchecked, type Result, type Verdict } from './verdict.ts'

export type { TestedService } from './tested-service.ts'
export type { Result } from './verdict.ts'

/** A running comparison of a service with the API description. */
export interface Conformance {
  /** Yields the result of every probe of one endpoint, the good case first. */
  check(operation: Operation): AsyncGenerator<Result>
  /**
   * Deletes the created entries and restores the changed ones, also after an error or an abort. Returns one sentence
   * for each that could not be cleaned up.
   */
  close(): Promise<readonly string[]>
}

/**
 * Starts the comparison. Throws a `DirsyncdError` if it would be useless: `directory-unreachable`, `token-refused` or
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
    const { status } = await probing.send('getDirectory', {})
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
    if (!isNoAnswer(error)) throw error
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

async function tryCase(probing: Probing, { operation, endpoint }: Row, each: Case): Promise<Result> {
  const { number, method, path } = endpoint
  const base = { operation, number, method, path, probe: each.name }
  try {
    if (method !== 'GET') requireWrites(probing.tested)
    const refused = each.needsScope ? probing.refused.get(operation) : undefined
    if (refused !== undefined) throw new Unchecked(refused)
    const verdict = withoutTokens(probing, await each.try(probing))
    return { ...base, state: verdict.differences.length > 0 ? 'differs' : 'ok', ...verdict }
  } catch (error) {
    if (error instanceof Unchecked)
      return { ...base, state: 'not-checked', ...NO_DIFFERENCES, reason: error.message }
    if (isNoAnswer(error)) return { ...base, state: 'differs', ...differs('an answer', error.message) }
    throw error
  } finally {
    await probing.removeEntries()
  }
}

/** Masks the tokens, because a service may repeat parts of the request in its answer. */
function withoutTokens({ tested }: Probing, { differences, notes }: Verdict): Verdict {
  const { expired, without = {} } = tested.tokens ?? {}
  const tokens = [tested.token, expired, ...Object.values(without)].filter((token) => token !== undefined)
  const clean = (text: string) => tokens.reduce((rest, token) => rest.replaceAll(token, '[token]'), text)
  const mask = (mismatches: Verdict['notes']) =>
    mismatches.map(({ expected, actual }) => ({ expected: clean(expected), actual: clean(actual) }))
  return { differences: mask(differences), notes: mask(notes) }
}
