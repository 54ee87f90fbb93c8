import { setTimeout as sleep } from 'node:timers/promises'
import type { LdapFault } from '../support/ldap-proxy.ts'
import { runSql } from '../support/postgres.ts'
import { pauseRedis } from './lane.ts'
import type { Fault } from './schedule.ts'
import type { World } from './world.ts'

const CUT = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dirsyncd'`

/** Does the fault, and resolves when it is over and what it hit runs again. */
export async function inject(world: World, fault: Fault): Promise<void> {
  const { lane, api } = world
  switch (fault.kind) {
    case 'kill':
      return world.processes.get(fault.who)?.killFor(fault.for)
    case 'freeze':
      return world.processes.get(fault.who)?.freezeFor(fault.for)
    case 'redis-restart':
    case 'redis-flush':
    case 'redis-pause':
      return lane.alone(() => hitRedis(world, fault.kind, fault.for))
    case 'postgres-restart':
    case 'postgres-freeze':
    case 'postgres-cut':
      return lane.alone(() => hitPostgres(world, fault.kind, fault.for))
    case 'clock':
      await world.setClock(fault.days)
      await sleep(fault.for)
      return world.setClock(0)
    case 'api': {
      using _trouble = api.begin(fault.trouble, fault.share)
      return await sleep(fault.for)
    }
    case 'retry-after-day': {
      using _trouble = api.begin('retry-after-day', 0.1)
      return await sleep(fault.for)
    }
    case 'outside-delete': {
      const end = world.deleteNextUpdated()
      await sleep(fault.for)
      return end()
    }
    case 'ldap':
      world.ldap?.setFault(ldapFault(fault))
      await Promise.all([sleep(fault.for), untilRead(world)])
      return world.ldap?.setFault({ kind: 'none' })
  }
}

const READ_MS = 10_000

/** Resolves when a read has begun that sees what the source says now, or after ten seconds. */
async function untilRead({ versions, ldap }: World): Promise<void> {
  const deadline = Date.now() + READ_MS
  let before: number | undefined
  while (Date.now() < deadline) {
    if (Number.isFinite(versions.at(-1)!.ended)) before ??= ldap?.connections ?? 0
    else before = undefined
    if (before !== undefined && (ldap?.connections ?? 0) > before) return
    await sleep(20)
  }
}

async function hitRedis(
  { lane }: World,
  kind: 'redis-restart' | 'redis-flush' | 'redis-pause',
  ms: number,
): Promise<void> {
  const redis = await lane.redis()
  if (kind === 'redis-flush') return redis.flush()
  if (kind === 'redis-pause') await pauseRedis(redis.url, ms)
  else await redis.stop()
  await sleep(ms)
  if (kind === 'redis-restart') await redis.start()
}

async function hitPostgres(
  { lane }: World,
  kind: 'postgres-restart' | 'postgres-freeze' | 'postgres-cut',
  ms: number,
): Promise<void> {
  const postgres = await lane.postgres()
  if (kind === 'postgres-cut') return runSql(postgres.url, CUT)
  await (kind === 'postgres-freeze' ? postgres.freeze() : postgres.stop())
  await sleep(ms)
  await (kind === 'postgres-freeze' ? postgres.resume() : postgres.start())
}

function ldapFault({ trouble, page, entry }: Extract<Fault, { kind: 'ldap' }>): LdapFault {
  switch (trouble) {
    case 'busy':
      return { kind: 'result', page, code: 51 }
    case 'notice':
      return { kind: 'notice', page }
    case 'left-over-cookie':
      return { kind: 'left-over-cookie', after: 'hang-up' }
    case 'empty-page':
      return { kind: 'empty-page', page }
    case 'cut':
    case 'hang-up':
    case 'stall':
    case 'hide':
      return { kind: trouble, page, entry }
  }
}
