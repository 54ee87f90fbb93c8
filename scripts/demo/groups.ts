import { DEPARTMENTS, LISTS, PROJECTS, SITES, type List, type Project } from './company.ts'
import type { Person } from './people.ts'
import { shuffled, type Random } from './random.ts'

export interface Group {
  readonly id: string
  readonly name: string
  /** Ids of people. */
  readonly members: readonly string[]
}

/** Everybody is in one department, in one site and in the list of all staff; projects and other lists are chosen. */
export function makeGroups(people: readonly Person[], random: Random): Group[] {
  return [
    ...DEPARTMENTS.map(({ id, name }) =>
      group(
        `dept-${id}`,
        name,
        people.filter((person) => person.department === id),
      ),
    ),
    ...SITES.map(({ id, name }) =>
      group(
        `site-${id}`,
        name,
        people.filter((person) => person.site === id),
      ),
    ),
    ...PROJECTS.map((project) =>
      group(`proj-${project.id}`, project.name, projectTeam(project, people, random)),
    ),
    ...LISTS.map((list) => group(`list-${list.id}`, list.name, listMembers(list, people, random))),
  ]
}

function listMembers({ size, titles }: List, people: readonly Person[], random: Random): readonly Person[] {
  const eligible =
    titles === undefined ? people : people.filter(({ title }) => titles.some((word) => title.includes(word)))
  return shuffled(eligible, random).slice(0, size)
}

/** Four of five come from the project's own departments. */
function projectTeam(project: Project, people: readonly Person[], random: Random): Person[] {
  const mixed = shuffled(people, random)
  const own = mixed.filter(({ department }) => project.from.includes(department))
  const others = mixed.filter(({ department }) => !project.from.includes(department))
  const inside = Math.min(own.length, Math.ceil(project.size * 0.8))
  return [...own.slice(0, inside), ...others.slice(0, project.size - inside)]
}

function group(id: string, name: string, members: readonly Person[]): Group {
  return { id, name, members: members.map((person) => person.id).toSorted() }
}
