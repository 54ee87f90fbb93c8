/** `mirror` may create, update and delete; `upsert` may create and update; `create-only` may only create. */
export type Policy = 'mirror' | 'upsert' | 'create-only'

/** Whether a sync ignores the members of groups, reports their differences, or writes them. */
export type Membership = 'off' | 'report' | 'write'
