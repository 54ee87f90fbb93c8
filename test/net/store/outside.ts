export * from '../../reference/store/outside.ts'
export { drainRun as applyRun } from '../../reference/store/outside.ts'
