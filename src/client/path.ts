/**
 * Fills the parameters into an endpoint's path. Returns a problem for a value that no path can hold: the id `..` would
 * turn `/users/..` into another path.
 */
export function fillPath(
  template: string,
  params: Readonly<Record<string, unknown>>,
): { readonly path: string } | { readonly problem: string } {
  let problem: string | undefined
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = textOf(params[name])
    problem ??= segmentProblem(name, value)
    return problem === undefined ? encodeURIComponent(value) : ''
  })
  return problem === undefined ? { path } : { problem }
}

/** Any other type is a mistake of an untyped caller and counts as missing. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function segmentProblem(name: string, value: string): string | undefined {
  if (value === '') return `${name} is empty`
  if (value === '.' || value === '..') return `${name} "${value}" cannot be part of a URL path`
  if (!value.isWellFormed()) return `${name} is not well-formed Unicode`
  return undefined
}
