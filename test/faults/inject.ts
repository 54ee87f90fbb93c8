import { setTimeout as sleep } from 'node:timers/promises'
import type { LdapFault } from '../support/ldap-proxy.ts'
import { runSql } from '../support/postgres.ts'
import { pauseRedis } from './lane.ts'
import type { Fault } from './schedule.ts'
import type { World } from './world.ts'

/** Does the fault, and resolves when it is over and what it hit runs again. */
export async function inject(world: World, fault: Fault): Promise<void> {
  const { lane, api } = world
  switch (fault.kind) {
    case 'kill':
      return world.processes.get(fault.who)?.killFor(fault.for)
    case 'freeze':
      return world.processes.get(fault.who)?.freezeFor(fault.for)
    case 'redis-restart': {
      const redis = await lane.redis()
      await redis.stop()
      await sleep(fault.for)
      return redis.start()
    }
    case 'redis-flush':
      return (await lane.redis()).flush()
    case 'redis-pause':
      await pauseRedis((await lane.redis()).url, fault.for)
      return sleep(fault.for)
    case 'postgres-restart': {
      const postgres = await lane.postgres()
      await postgres.stop()
      await sleep(fault.for)
      return postgres.start()
    }
    case 'postgres-freeze': {
      const postgres = await lane.postgres()
      await postgres.freeze()
      await sleep(fault.for)
      return postgres.resume()
    }
    case 'postgres-cut':
      return runSql(
        (await lane.postgres()).url,
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dirsyncd'`,
      )
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
      await sleep(fault.for)
      return world.ldap?.setFault({ kind: 'none' })
  }
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
