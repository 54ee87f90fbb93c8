import { parts, rejections } from './decisions.ts'
import { claims } from './emails.ts'
import { grace } from './grace.ts'
import { containers, memberLists, nesting } from './groups.ts'
import { limits } from './limits.ts'
import { servers } from './servers.ts'
import { undone } from './undos.ts'
import { writes } from './writes.ts'
import type { Theme } from '../theme.ts'

export const scripts: readonly Theme[] = [
  ...grace,
  ...rejections,
  ...parts,
  ...claims,
  ...writes,
  ...servers,
  ...containers,
  ...nesting,
  ...memberLists,
  ...limits,
  ...undone,
]
