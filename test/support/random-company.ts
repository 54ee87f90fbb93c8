import fc from 'fast-check'
import type { MutableCompany } from './sync-harness.ts'

/** The ids of everybody who may be in a random company. */
export const PEOPLE = ['a', 'b', 'c', 'd', 'e', 'f']
export const GROUPS = ['g', 'h', 'i']

/** A company of some of the people, each with an e-mail of nobody else, in some of the groups. */
export const someCompany = fc.record({
  people: fc.shuffledSubarray(PEOPLE),
  emails: fc.shuffledSubarray(PEOPLE, { minLength: PEOPLE.length }),
  names: fc.array(fc.nat(1), { minLength: PEOPLE.length, maxLength: PEOPLE.length }),
  groups: fc.array(fc.option(fc.record({ name: fc.nat(1), members: fc.subarray(PEOPLE) })), {
    minLength: GROUPS.length,
    maxLength: GROUPS.length,
  }),
})
export type SomeCompany = typeof someCompany extends fc.Arbitrary<infer T> ? T : never

/** Makes the company equal to a random one. */
export function become(company: MutableCompany, { people, emails, names, groups }: SomeCompany): void {
  company.users.clear()
  company.groups.clear()
  for (const [place, id] of people.entries())
    company.users.set(id, { name: `${id} number ${names[place]}`, email: `${emails[place]}@example.org` })
  for (const [place, group] of groups.entries()) {
    const id = GROUPS[place]!
    const members = group?.members.filter((member) => people.includes(member)) ?? []
    if (group !== null) company.groups.set(id, { name: `${id} number ${group.name}`, members })
  }
}
