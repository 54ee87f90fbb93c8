/** What each process consists of. Only the files under `compose/` name concrete adapters; they open and dispose them. */
export { runApiContract } from './compose/api-contract.ts'
export { runCheck } from './compose/check.ts'
export { openControl } from './compose/control.ts'
export { runDaemon } from './compose/daemon.ts'
export { runService } from './compose/service.ts'
export { createServiceKey, openServiceAdmin } from './compose/service-admin.ts'
export { runWorker } from './compose/worker.ts'
