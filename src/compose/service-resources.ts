// Data only: the command line needs it for `--help`, without loading the service.
export { MAX_ID } from '../contract/values.ts'
export { flagsOf, type Flag } from '../service/resources/flags.ts'
export type { Resource } from '../service/resources/resource.ts'
export { type ResourceName, resources } from '../service/resources/resources.ts'
export { isTimeOrDuration } from '../service/resources/values.ts'
