export * from '../../reference/store/plans.ts'
export { listNotices as batchNotices } from '../../reference/store/plans.ts'
