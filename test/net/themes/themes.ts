import { decisions } from './decisions.ts'
import { emails } from './emails.ts'
import { groups } from './groups.ts'
import { guards } from './guards.ts'
import { lists } from './lists.ts'
import { reads } from './reads.ts'
import { servers } from './servers.ts'
import { times } from './times.ts'
import { undos } from './undos.ts'
import { scripts } from './scripted/scripts.ts'
import type { Theme } from './theme.ts'

export const THEMES: readonly Theme[] = [
  ...reads,
  ...lists,
  ...emails,
  ...times,
  ...servers,
  ...groups,
  ...guards,
  ...decisions,
  ...undos,
  ...scripts,
]
