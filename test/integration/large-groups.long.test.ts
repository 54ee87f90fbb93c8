import { testLargeGroups } from './large-groups.ts'

testLargeGroups({ people: 100_000, groups: 20_000, groupsOfOne: 2000 })
