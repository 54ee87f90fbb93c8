import type { Protection } from '../protection.ts'
import { APPLY } from './apply.ts'
import { BATCHES } from './batches.ts'
import { BUNDLE } from './bundle.ts'
import { CANARY } from './canary.ts'
import { EDGES } from './edges.ts'
import { EVIDENCE } from './evidence.ts'
import { INIT } from './init.ts'
import { LDAP } from './ldap.ts'
import { PAGES } from './pages.ts'
import { PARTS_OF_PLANS } from './parts.ts'
import { PLAN } from './plan.ts'
import { RELOAD } from './reload.ts'
import { SERVERS } from './servers.ts'
import { SERVICE } from './service.ts'
import { SOURCES } from './sources.ts'
import { STORES } from './stores.ts'
import { UNDO_AND_PAUSE } from './undo.ts'
import { WATCHING } from './watching.ts'

export const PROTECTIONS: readonly Protection[] = [
  ...PLAN,
  ...EVIDENCE,
  ...LDAP,
  ...SERVERS,
  ...SOURCES,
  ...EDGES,
  ...BUNDLE,
  ...STORES,
  ...APPLY,
  ...BATCHES,
  ...CANARY,
  ...SERVICE,
  ...UNDO_AND_PAUSE,
  ...PARTS_OF_PLANS,
  ...RELOAD,
  ...WATCHING,
  ...PAGES,
  ...INIT,
]
