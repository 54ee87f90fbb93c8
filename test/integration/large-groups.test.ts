import { testLargeGroups } from './large-groups.ts'

testLargeGroups({ people: 600, groups: 40, groupsOfOne: 30 })
