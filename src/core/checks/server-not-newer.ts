import { all, createOf, FIELDS, isEmpty, type Key, matching } from '../keys.ts'
import type { Block, Check } from './check.ts'
import type { RunFacts } from './run-facts.ts'

/**
 * The server may lack what the last complete run read, so only what it adds is believed, and nothing of an older one:
 * that shows deleted entries again. When it has lasted for a day, an operator is asked about this server.
 */
export const serverNotNewer: Check<RunFacts> = {
  name: 'server-not-newer',
  *next({ server, left }, moment) {
    if (server === undefined) return {}
    if (server.trouble !== undefined) {
      if (moment.at === 'end') return {}
      // A run that is killed has added some of it: the next read of another server must not delete that again.
      const isAdding = server.withAdditions !== undefined && !isEmpty(all(left))
      return { server: isAdding ? server.withAdditions : server.next }
    }
    const next = moment.at === 'begun' ? undefined : moment.end === 'applied' ? server.next : server.meanwhile
    return next === undefined ? {} : { server: next }
  },
  *judge({ wanted, left, server }) {
    if (server?.trouble === undefined || server.state.code !== 'not-newer') return []
    const { scope, state, trouble } = server
    const isNew = ([kind, id, field]: Key): boolean =>
      field === '+member' || field === 'create' || wanted.has(createOf(kind, id))
    const keys = matching(left, FIELDS, (key) => scope === 'nothing' || !isNew(key))
    const block: Block = { code: 'server-not-newer', params: state.params, until: 'read', keys }
    return [trouble.needsPerson ? { ...block, asks: ['fact', 'server', trouble.token] } : block]
  },
}
