import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDispatcher } from '../api/client/dispatcher.ts'
import { DEFAULT_TIMEOUTS } from '../api/client/options.ts'
import { openConformance, type Result, type TestedService } from '../api/conformance/conformance.ts'
import { endpoints, type Operation } from '../api/contract/endpoints.ts'
import { DirsyncdError, fileReason } from '../base/errors.ts'
import { createSecretReader } from '../base/secrets/secret.ts'
import { trustAuthoritiesOfMachine } from '../base/process/authorities.ts'
import type { BareSession } from '../base/terminal/run-program.ts'

const PATHS = Object.values(endpoints).map(({ path }) => path)

export interface ConformanceRequest {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly organization: number
  readonly directory: number
  readonly tokenFile: string
  readonly writes: boolean
  /** The subscription whose password may be reset (#18). */
  readonly resetPassword?: number
  readonly emailDomain?: string
  /** Per second. */
  readonly rate?: number
  /** PEM file. */
  readonly ca?: string
  readonly proxy?: string
}

export type ConformanceStep =
  | {
      readonly step: 'begin'
      readonly baseUrl: string
      readonly organizationId: number
      readonly directoryId: number
      readonly writes: boolean
      readonly paths: readonly string[]
    }
  | { readonly step: 'endpoint'; readonly results: readonly Result[] }
  /** `left`: sentences about what could not be removed or restored. */
  | { readonly step: 'end'; readonly left: readonly string[] }

/** Without `writes` only GET is sent. Written data is removed or restored, also when the signal is aborted. */
export async function* compare(
  request: ConformanceRequest,
  { log, signal }: Pick<BareSession, 'log' | 'signal'>,
): AsyncGenerator<ConformanceStep> {
  const { baseUrl, organization: organizationId, directory: directoryId, writes } = request
  await using stack = new AsyncDisposableStack()
  const tested = await testedServiceOf(request)
  yield { step: 'begin', baseUrl, organizationId, directoryId, writes, paths: PATHS }
  const conformance = await openConformance(tested, signal)
  stack.defer(async () => {
    const left = await conformance.close()
    if (left.length > 0) log.warn({ left }, 'not everything that the test made could be removed')
  })
  for (const operation of Object.keys(endpoints) as Operation[]) {
    yield { step: 'endpoint', results: await Array.fromAsync(conformance.check(operation)) }
  }
  yield { step: 'end', left: await conformance.close() }
}

async function testedServiceOf(request: ConformanceRequest): Promise<TestedService> {
  const { baseUrl, organization, directory, writes, emailDomain, resetPassword, rate, ca, proxy } = request
  if (ca === undefined && baseUrl.startsWith('https:')) trustAuthoritiesOfMachine()
  return {
    baseUrl,
    organizationId: organization,
    directoryId: directory,
    token: await readToken(request.tokenFile),
    deviceId: `conformance-${randomUUID()}`,
    dispatcher: createDispatcher({
      origin: new URL(baseUrl).origin,
      connections: 4,
      ca: ca === undefined ? undefined : await textOf(ca),
      proxy,
      timeouts: DEFAULT_TIMEOUTS,
    }),
    writes,
    ...(emailDomain !== undefined && { emailDomain }),
    ...(resetPassword !== undefined && { resetSubscriptionId: resetPassword }),
    ...(rate !== undefined && { limit: createPace(1000 / rate) }),
  }
}

async function readToken(file: string): Promise<string> {
  const place = { env: {}, folder: '.', option: '--token-file' }
  const token = await createSecretReader({ file }, place).read()
  if (/^[!-~]+$/.test(token)) return token
  throw new DirsyncdError(
    'usage',
    `The token in ${file} holds characters that no header can carry; is it the right file?`,
  )
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new DirsyncdError('usage', `${file} cannot be read: ${fileReason(error)}.`, { cause: error })
  }
}

function createPace(intervalMs: number): (signal: AbortSignal) => Promise<void> {
  let next = 0
  return async (signal) => {
    const now = performance.now()
    const wait = next - now
    next = Math.max(next, now) + intervalMs
    if (wait > 0) await sleep(wait, undefined, { signal })
  }
}
