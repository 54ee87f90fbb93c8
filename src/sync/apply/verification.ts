import { setTimeout as sleep } from 'node:timers/promises'
import { DirsyncdError } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import {
  FIRST_CHANGES,
  VERIFIED_OPS,
  type VerifiedChange,
  type VerificationResult,
  FIRST_AFTER_FAILURE,
  isAsSent,
  judgeVerification,
  type Look,
  type ReadBack,
  type Shown,
} from '../../core/plan/verification.ts'
import type { Op } from '../../core/plan/change.ts'
import type { Times } from '../../queue/times.ts'
import { lastVerdict, type SentChange, firstSent, storeVerdict } from '../../store/verifications.ts'
import type { FencedRun } from '../../store/fenced-run.ts'
import { forgetOutages, pauseForOutage, pauseOf } from '../../store/pause.ts'
import type { Db } from '../../store/tables.ts'
import { markFirst, type Stage } from './stage.ts'

export interface VerificationDeps {
  readonly db: Db
  readonly fenced: FencedRun
  readonly times: Times
  readonly log: Log
  readonly lookBack: (change: VerifiedChange, signal: AbortSignal) => Promise<Look>
  readonly inBatches: boolean
  readonly onNotices: (notices: VerificationResult['notices']) => void
}

type Sizes = Map<Op, number>

type Sent = Omit<ReadBack, 'shown'> & Partial<Pick<ReadBack, 'shown'>>

/** Blocks changes until the first ones of their operation were read back as sent; once per directory. */
export class Verification {
  readonly #deps: VerificationDeps
  readonly #apply: (stage: Stage) => Promise<void>
  readonly #signal: AbortSignal
  /** Whether the entry of a refused change exists, by change number: one lookup each. */
  readonly #isThere = new Map<number, boolean>()

  constructor(deps: VerificationDeps, apply: (stage: Stage) => Promise<void>, signal: AbortSignal) {
    this.#deps = deps
    this.#apply = apply
    this.#signal = signal
  }

  /**
   * Sends the first changes of each operation, and more while too few were accepted. Returns whether it sent any.
   * @throws DirsyncdError `directory-unexpected` where the service shows other values than were sent
   */
  async verify(stage: Stage): Promise<boolean> {
    const sizes = await this.#unverified(stage)
    // An earlier stage may have sent changes, or this stage before the store was away.
    for (const op of sizes.keys()) await this.#judge(op, sizes)
    let hasSent = false
    // A change may become due only after a change of another operation, so each operation gets several turns.
    for (let isMoving = sizes.size > 0; isMoving; hasSent ||= isMoving) {
      isMoving = false
      for (const [op, size] of sizes) {
        if (!(await this.#send({ ...stage, verifies: op }, size))) continue
        isMoving = true
        await this.#judge(op, sizes)
      }
    }
    return hasSent
  }

  async #unverified({ phase }: Stage): Promise<Sizes> {
    const { fenced } = this.#deps
    return fenced.write(async (trx, run) => {
      const sizes: Sizes = new Map()
      for (const op of VERIFIED_OPS[phase]) {
        const verdict = await lastVerdict(trx, run, this.#kindOf(op))
        if (verdict !== 'passed') sizes.set(op, verdict === 'failed' ? FIRST_AFTER_FAILURE : FIRST_CHANGES)
      }
      return sizes
    })
  }

  #kindOf(op: Op) {
    const isCreate = op === 'create-user' || op === 'create-group'
    return { op, inBatches: isCreate && this.#deps.inBatches }
  }

  async #send(stage: Stage & { readonly verifies: Op }, most: number): Promise<boolean> {
    const { fenced } = this.#deps
    const marked = await fenced.write((trx) => markFirst(trx, fenced.run, stage, most))
    if (marked === 0) return false
    await this.#apply(stage)
    return true
  }

  /** Removes an operation that has passed from `sizes`. The first changes after a failure cannot pass. */
  async #judge(op: Op, sizes: Sizes): Promise<void> {
    const { db, fenced, onNotices, log } = this.#deps
    const sent = await firstSent(db, fenced.run, op)
    const refused = sent.filter(({ accepted }) => !accepted)
    const applied = [...sent.filter(({ accepted }) => accepted), ...(await this.#thereAllTheSame(refused))]
    if (applied.length === 0) return
    const mayPass = sizes.get(op) === FIRST_CHANGES
    const { failure, passed, notices } = judgeVerification(await this.#readBack(applied), { mayPass })
    if (failure !== undefined) {
      await this.#store(op, 'failed')
      throw new DirsyncdError('directory-unexpected', failure)
    }
    onNotices(notices)
    sizes.set(op, FIRST_CHANGES)
    if (!passed) return
    await this.#store(op, 'passed')
    sizes.delete(op)
    log.info(
      { op, changes: applied.length },
      'the first changes were read back from the service and are as sent',
    )
  }

  #store(op: Op, verdict: 'passed' | 'failed'): Promise<void> {
    const { fenced } = this.#deps
    return fenced.write((trx, { sync, target }) =>
      storeVerdict(trx, { sync, target, run: fenced.run }, this.#kindOf(op), verdict),
    )
  }

  /** A refused create whose entry exists: the service created it, or another client did. */
  async #thereAllTheSame(refused: readonly SentChange[]): Promise<readonly SentChange[]> {
    for (const { number, change } of refused)
      if (!this.#isThere.has(number)) this.#isThere.set(number, (await this.#ask(change))?.id === change.id)
    return refused.filter(({ number }) => this.#isThere.get(number) === true)
  }

  /** A service may show a change late. */
  async #readBack(applied: readonly Sent[]): Promise<readonly ReadBack[]> {
    const { look } = this.#deps.times.verification
    let seen = await this.#lookAt(applied)
    for (let waitMs = look.first, leftMs = look.giveUp; leftMs > 0 && !seen.every(isAsSent); waitMs *= 2) {
      await sleep(Math.min(waitMs, leftMs), undefined, { signal: this.#signal })
      leftMs -= waitMs
      seen = await this.#lookAt(seen)
    }
    return seen
  }

  /** One after the other: 20 lookups take a second or two, and a failed lookup stops the rest. */
  async #lookAt(changes: readonly Sent[]): Promise<readonly ReadBack[]> {
    const seen: ReadBack[] = []
    for (const { change, status, ...before } of changes) {
      const last = { change, status, shown: before.shown }
      seen.push(isAsSent(last) ? last : { ...last, shown: await this.#ask(change) })
    }
    return seen
  }

  /** Repeats until the service answers. An outage pauses the target, as it does for changes. */
  async #ask(change: VerifiedChange): Promise<Shown | undefined> {
    const { lookBack, fenced, times } = this.#deps
    const since = performance.now()
    for (let tries = 1; ; tries++) {
      this.#signal.throwIfAborted()
      const look = await lookBack(change, this.#signal)
      if (look.result === 'looked') {
        if (tries > 1) await fenced.write((trx, { target }) => forgetOutages(trx, target))
        return look.shown
      }
      if (performance.now() - since > times.outage.giveUp) throw outage(times.outage.giveUp, look.detail)
      await this.#pause(look.detail)
    }
  }

  async #pause(reason: string): Promise<void> {
    const { fenced, times, log } = this.#deps
    const { firstProbe: firstMs, lastProbe: lastMs } = times.outage
    const pause = await fenced.write(async (trx, { target }) => {
      await pauseForOutage(trx, target, { firstMs, lastMs })
      return pauseOf(trx, target)
    })
    log.warn({ reason }, 'the directory does not answer; what it was sent is read back later')
    await sleep(pause?.leftMs ?? firstMs, undefined, { signal: this.#signal })
  }
}

function outage(ms: number, answer: string): DirsyncdError {
  return new DirsyncdError(
    'directory-unreachable',
    `What the service was sent could not be read back for ${Math.round(ms / 60_000)} minutes; the last answer was: ` +
      `${answer.replace(/\.$/, '')}. Nothing more was sent. The next run goes on with what is left.`,
  )
}
