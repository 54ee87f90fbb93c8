/**
 * Why an external id cannot be used, or `undefined` when it can. Ids are compared byte for byte and never folded;
 * refused is only what no URL path can carry: `/users/..` would be another path.
 */
export function idProblem(id: string): string | undefined {
  if (id === '') return 'the id is empty'
  if (id === '.' || id === '..') return `the id "${id}" cannot be part of a URL path`
  if (!id.isWellFormed()) return 'the id is not well-formed Unicode'
  return undefined
}
