import { expect, test } from 'vitest'
import {
  directoryOf,
  haveGroup,
  haveUser,
  type Plan,
  planOf,
  sourceOf,
  wantGroup,
  wantUser,
} from './build.ts'

const ANA = '6fd0f2c4-7e30-1041-8c95-a5e19ca83c11'
const BO = '6FD0F2C4-7E30-1041-8C95-A5E19CA83C12'

const namesIn = ({ notices }: Plan) =>
  notices.flatMap(({ code, kind, id }) => (code === 'other-id-form' ? [`${kind} ${id}`] : []))

test.each([
  { form: 'guid', ids: [ANA, BO], others: ['{6fd0f2c4-7e30-1041-8c95-a5e19ca83c13}'] },
  {
    form: 'guid',
    ids: ['10f2c444-7e301041-8c95a5e1-9ca83c11'],
    others: ['6fd0f2c47e3010418c95a5e19ca83c13'],
  },
  { form: 'number', ids: ['1001', '000420'], others: ['7'] },
])('a delete of an id that has not the form of all others, $form, is named', ({ form, ids, others }) => {
  const users = ids.map((id) => haveUser(id, `Name ${id}`))
  const old = [...others, 'emergency-1'].map((id) => haveUser(id, `Name ${id}`))
  const plan = planOf(sourceOf(ids.map((id) => wantUser(id, `Name ${id}`))), directoryOf([...users, ...old]))
  expect(plan.changes).toHaveLength(others.length + 1)
  expect(namesIn(plan)).toEqual(['user emergency-1'])
  expect(plan.notices.find(({ code }) => code === 'other-id-form')?.params).toEqual({ form })
})

test('a group is one as well, beside users whose ids have no form', () => {
  const plan = planOf(
    sourceOf([wantUser('ana', 'Ana')], [wantGroup(ANA, 'Sales')]),
    directoryOf([haveUser('bo', 'Bo')], [haveGroup('by-hand', 'Made by hand'), haveGroup(BO, 'Old')]),
  )
  expect(namesIn(plan)).toEqual(['group by-hand'])
})

test('ids of several forms, or of a person under a new id, are not named', () => {
  const old = directoryOf([haveUser('emergency-1', 'Emergency')])
  expect(namesIn(planOf(sourceOf([wantUser(ANA, 'Ana'), wantUser('bo', 'Bo')]), old))).toEqual([])
  expect(namesIn(planOf(sourceOf([wantUser(ANA, 'Ana'), wantUser('1001', 'Bo')]), old))).toEqual([])
  const email = 'ana@example.org'
  const reborn = planOf(
    sourceOf([{ ...wantUser(ANA, 'Ana'), email }]),
    directoryOf([haveUser('ana', 'Ana', email)]),
  )
  expect(reborn.changes).toHaveLength(2)
  expect(namesIn(reborn)).toEqual([])
  const renumbered = planOf(
    sourceOf([{ ...wantUser(ANA, 'Ana'), email }]),
    directoryOf([haveUser('ana', 'Ana', email), haveUser('old', 'Old')]),
  )
  expect(renumbered.changes).toHaveLength(3)
  expect(namesIn(renumbered)).toEqual([])
})
