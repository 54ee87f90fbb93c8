import { DirsyncdError } from '../../base/errors.ts'
import type { Endpoint } from '../contract/endpoints.ts'
import type { Case, Row } from './cases/case.ts'
import type { Mismatch } from './checks.ts'
import { RequestFailed, type Result, SkipCase } from './result.ts'
import type { Session } from './session.ts'

/**
 * The result of a case, which is tried twice if a request fails. Throws as `requireAccess` if the service answers nothing
 * any more.
 */
export async function tryCase(session: Session, row: Row, each: Case): Promise<Result> {
  const { number, method, path }: Endpoint = row.endpoint
  const base = { operation: row.operation, number, method, path, probe: each.name }
  try {
    const mismatches = await session.withSecondTry(() => tryOnce(session, row, each))
    return { ...base, ...conclude(session, each, mismatches) }
  } catch (error) {
    if (error instanceof SkipCase) return { ...base, ...notChecked(error.message) }
    if (!(error instanceof RequestFailed)) throw error
    if (!error.isAnswered) await requireAccess(session)
    const isOwn = error.operation === row.operation
    const finding = isOwn
      ? conclude(session, each, [error.mismatch])
      : notChecked(`it needs another request: ${error.message}`)
    return { ...base, ...finding }
  }
}

async function tryOnce(session: Session, row: Row, each: Case): Promise<readonly Mismatch[]> {
  try {
    if (row.endpoint.method !== 'GET') session.requireWrites()
    if (each.needsScope) session.requireScope(row.operation)
    return await each.try(session)
  } finally {
    await session.removeEntries()
  }
}

type Finding = Pick<Result, 'state' | 'differences' | 'reason' | 'unstated'>

function conclude({ tested }: Session, { isStated = true }: Case, mismatches: readonly Mismatch[]): Finding {
  // A service may repeat parts of the request in its answer.
  const mask = (text: string) => text.replaceAll(tested.token, '[token]')
  const masked = mismatches.map(({ expected, actual }) => ({
    expected: mask(expected),
    actual: mask(actual),
  }))
  const [first] = masked
  if (first === undefined) return { state: 'ok', differences: [] }
  return isStated
    ? { state: 'differs', differences: masked }
    : { state: 'ok', differences: [], unstated: first }
}

function notChecked(reason: string): Finding {
  return { state: 'not-checked', differences: [], reason }
}

/**
 * Throws a `DirsyncdError` if a comparison is useless: `directory-unreachable`, `token-refused` or `directory-unknown`.
 */
export async function requireAccess(session: Session): Promise<void> {
  const { baseUrl, directoryId, organizationId } = session.tested
  const status = await statusOfDirectory(session)
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
}

/** `undefined` for a server error, and while the service limits the rate. */
async function statusOfDirectory(session: Session): Promise<number | undefined> {
  try {
    return (await session.withSecondTry(() => session.send('getDirectory'))).status
  } catch (error) {
    if (error instanceof SkipCase) return undefined
    if (!(error instanceof RequestFailed)) throw error
    if (error.isAnswered) return undefined
    const message = `${session.tested.baseUrl} does not answer: ${error.mismatch.actual}.`
    throw new DirsyncdError('directory-unreachable', message, { cause: error })
  }
}
