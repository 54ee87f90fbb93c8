import { seededRandom } from '../../src/service/faults/faults.ts'

/** A person of the source. `number` never changes and makes the id, the e-mail and the DN. */
export interface Person {
  readonly number: number
  readonly name: string
  readonly email: string | undefined
}

export interface Team {
  readonly number: number
  readonly name: string
  readonly members: ReadonlySet<string>
}

/** What the source says; both by external id. */
export interface Company {
  readonly users: ReadonlyMap<string, Person>
  readonly groups: ReadonlyMap<string, Team>
}

/** What happens in the company at one moment, in numbers of people and groups. */
export interface Edit {
  /** Milliseconds after the beginning of the schedule. */
  readonly at: number
  /** Chooses who is concerned. */
  readonly seed: number
  readonly join: number
  readonly leave: number
  readonly rename: number
  /** Gets another e-mail address; every other of them that of somebody else, who gets a third one. */
  readonly readdress: number
  /** Two people exchange their e-mail addresses. */
  readonly swap: number
  readonly teams: number
  readonly regroup: number
  /** Those who got another name with the edit before get another one again. */
  readonly again: boolean
}

export interface CompanyOptions {
  readonly seed: number
  readonly users: number
  readonly groups: number
  readonly oddIds: boolean
  /** LDAP: groups need a member, and who was deleted within a day is not created again. */
  readonly canReturn: boolean
  /** Nobody leaves anything before the first run has ended: dirsyncd would ask a person. */
  readonly onlyAdds: boolean
}

/** Their address is outside of the allowed domains, so they are skipped and reported. */
const OUTSIDERS = 2
const FIRST = ['Zoë', 'Ann', 'Łukasz', 'José', '明', 'Marie-Claire', "O'Neil"]
const LAST = ['Müller', 'van der Berg', 'Smith, Jr.', 'Šimić', 'Kim', 'García Márquez']
const ODD = [
  (n: number) => `a/b${n}`,
  (n: number) => `U-${n} ü`,
  (n: number) => `x%2Fy${n}`,
  (n: number) => `"q",${n};`,
  (n: number) => `#?&=${n}`,
  (n: number) => `../p${n}`,
]

/** Makes the company of a schedule and the versions of it that its edits lead to. */
export class CompanyHistory {
  readonly first: Company
  readonly #options: CompanyOptions
  #next: number
  #left: Person[] = []
  #edits = 0
  #renamed: readonly string[] = []

  constructor(options: CompanyOptions) {
    this.#options = options
    const random = seededRandom(options.seed)
    const users = new Map<string, Person>()
    for (let number = 0; number < options.users; number += 1) {
      users.set(this.#idOf(number), personOf(number, random))
    }
    const groups = new Map<string, Team>()
    const ids = insiders(users)
    for (let number = 0; number < options.groups; number += 1) {
      groups.set(teamId(number), {
        number,
        name: `Team ${number}`,
        members: someOf(ids, 2 + 10 * random(), random),
      })
    }
    this.first = { users, groups }
    this.#next = options.users
  }

  /** The company after one more edit. */
  after({ users: usersBefore, groups: groupsBefore }: Company, edit: Edit): Company {
    this.#edits += 1
    const random = seededRandom(edit.seed)
    const users = new Map(usersBefore)
    const groups = new Map(groupsBefore)
    const { canReturn, onlyAdds } = this.#options
    const some = (count: number) => [...someOf(insiders(users), count, random)]
    const freed: string[] = []
    if (!onlyAdds && users.size > 15) {
      for (const id of some(edit.leave)) {
        const person = users.get(id)!
        this.#left.push(person)
        if (person.email !== undefined) freed.push(person.email)
        users.delete(id)
      }
    }
    for (let count = 0; count < edit.join; count += 1) {
      const back = canReturn && random() < 0.3 ? this.#left.shift() : undefined
      const number = back?.number ?? this.#next++
      // Sometimes the address of a leaver goes to the newcomer.
      const email = random() < 0.3 ? freed.pop() : undefined
      const person = { ...personOf(number, random), name: `${nameOf(number, random)} n${this.#edits}` }
      users.set(this.#idOf(number), { ...person, email: email ?? `p${number}.n${this.#edits}@example.org` })
    }
    const again = edit.again ? this.#renamed.filter((id) => users.has(id)) : []
    this.#renamed = [...new Set([...again, ...some(edit.rename)])]
    for (const id of this.#renamed) {
      const person = users.get(id)!
      users.set(id, { ...person, name: `${nameOf(person.number, random)} r${this.#edits}` })
    }
    readdress(users, some(edit.readdress), this.#edits)
    const pairs = some(2 * edit.swap).filter((id) => users.get(id)!.email !== undefined)
    for (let at = 0; at + 1 < pairs.length; at += 2) swap(users, pairs[at]!, pairs[at + 1]!)
    this.#editGroups(users, groups, edit, random)
    return { users, groups }
  }

  #editGroups(
    users: ReadonlyMap<string, Person>,
    groups: Map<string, Team>,
    edit: Edit,
    random: () => number,
  ): void {
    const ids = insiders(users)
    for (const id of someOf([...groups.keys()], edit.regroup, random)) {
      const team = groups.get(id)!
      const kept = this.#options.onlyAdds ? [...team.members] : [...team.members].filter(() => random() < 0.8)
      const members = new Set([...kept, ...someOf(ids, 1 + 4 * random(), random)])
      const name = random() < 0.5 ? `Team ${team.number} r${this.#edits}` : team.name
      groups.set(id, { ...team, name, members })
    }
    for (let count = 0; count < edit.teams; count += 1) {
      const number = 1000 * this.#edits + count
      groups.set(teamId(number), { number, name: `Team ${number}`, members: someOf(ids, 4, random) })
    }
    if (!this.#options.onlyAdds && edit.teams > 0 && groups.size > 3) deleteSmall(groups)
    // Whoever left is in no group; a group that lost everybody gets somebody, because an emptied one waits for a
    // person.
    for (const [id, team] of groups) {
      const members = new Set([...team.members].filter((member) => users.has(member)))
      if (members.size === 0) members.add(ids[0]!)
      groups.set(id, { ...team, members })
    }
  }

  #idOf(number: number): string {
    const odd = this.#options.oddIds && number % 4 === 3
    return odd ? ODD[(number >> 2) % ODD.length]!(number) : `u${number}`
  }
}

/**
 * Deletes one small group. A run may read one file before an edit and the next one after it: a group of five or more
 * would then seem to be emptied, and wait for a person.
 */
function deleteSmall(groups: Map<string, Team>): void {
  for (const [id, { members }] of groups) {
    if (members.size < 5) {
      groups.delete(id)
      return
    }
  }
}

function teamId(number: number): string {
  return `g${number}`
}

/** Whether dirsyncd leaves this person out, because of the address. */
export function isOutsider({ number }: Person): boolean {
  return number >= 5 && number < 5 + OUTSIDERS
}

function insiders(users: ReadonlyMap<string, Person>): string[] {
  return [...users].filter(([, person]) => !isOutsider(person)).map(([id]) => id)
}

function personOf(number: number, random: () => number): Person {
  const name = nameOf(number, random)
  if (number >= 5 && number < 5 + OUTSIDERS) return { number, name, email: `p${number}@elsewhere.test` }
  return { number, name, email: number % 17 === 8 ? undefined : `p${number}@example.org` }
}

/** The number keeps names apart, and makes a renamed person no other one. */
function nameOf(number: number, random: () => number): string {
  return `${FIRST[Math.floor(random() * FIRST.length)]} ${LAST[number % LAST.length]} ${number}`
}

function readdress(users: Map<string, Person>, ids: readonly string[], version: number): void {
  let freed: string | undefined
  for (const id of ids) {
    const person = users.get(id)!
    if (person.email === undefined) continue
    users.set(id, { ...person, email: freed ?? `p${person.number}.e${version}@example.org` })
    freed = freed === undefined ? person.email : undefined
  }
}

function swap(users: Map<string, Person>, one: string, other: string): void {
  const [first, second] = [users.get(one)!, users.get(other)!]
  users.set(one, { ...first, email: second.email })
  users.set(other, { ...second, email: first.email })
}

function someOf(ids: readonly string[], count: number, random: () => number): Set<string> {
  const some = new Set<string>()
  for (let tries = 0; some.size < Math.min(count, ids.length) && tries < 10 * count + 10; tries += 1) {
    some.add(ids[Math.floor(random() * ids.length)]!)
  }
  return some
}
