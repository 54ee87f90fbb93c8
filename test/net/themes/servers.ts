import { HOUR } from '../company.ts'
import { settle, type Theme } from './theme.ts'

export const servers: readonly Theme[] = [
  {
    name: 'older-server',
    begin(company) {
      company.hasServer = true
    },
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      if (number === 0 || rng.chance(0.3)) return
      draft.server = company.server(50)
      const [gone = ''] = company.ids()
      draft.hidden.user.add(gone)
      company.hire()
      draft.ahead = rng.pick([HOUR, 13 * HOUR, 25 * HOUR])
      if (rng.chance(0.5)) draft.decides.push({ does: 'approve' })
    },
  },
  {
    name: 'other-server',
    begin(company) {
      company.hasServer = true
    },
    step(company, draft, number) {
      settle(draft, number)
      const { rng } = company
      const server = company.server()
      const s2 = String(number).padStart(6, '0')
      draft.server = {
        ...server,
        position: rng.pick([
          { s1: '000101', s2 },
          { ...server.position, s2: '000000' },
          { s1: '000090', s2, s3: '1' },
          undefined,
        ]),
        database: rng.pick(['dc=x 1', 'dc=x 1', 'dc=x 2']),
        ...(rng.chance(0.3) && { positionAtStart: { s1: '000099', s2 } }),
      }
      if (number === 0) draft.server = server
      const [gone = '', other = ''] = company.ids()
      if (rng.chance(0.5)) draft.hidden.user.add(gone)
      company.hire()
      company.users.get(other)!.name = `Other${number}`
      for (const { lists: all } of company.groups.values())
        if (rng.chance(0.5)) all[0]!.users = company.some(4)
      draft.ahead = rng.pick([HOUR, 13 * HOUR, 25 * HOUR])
      if (rng.chance(0.2)) draft.ends = 'crash-in-apply'
      if (rng.chance(0.5)) draft.decides.push({ does: 'approve' })
    },
  },
]
