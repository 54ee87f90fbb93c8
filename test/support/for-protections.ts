/** Whether `npm run test:protections` runs, which looks at one file at a time, also at those of the long tests. */
export const isForProtections = process.env['PROTECTIONS_RESULT'] !== undefined
