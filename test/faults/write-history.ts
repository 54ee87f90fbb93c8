import type { ProxiedRequest } from '../support/api-proxy.ts'

/** A write that the service was asked for. */
export interface Write {
  /** When the service answered, in milliseconds since 1970. */
  readonly at: number
  /** When the request reached the proxy. */
  readonly since: number
  /** Not by dirsyncd, but by the test as somebody else. */
  readonly outside: boolean
  readonly op: 'create' | 'update' | 'delete'
  readonly kind: 'user' | 'group'
  readonly id: string
  /** What it sets. */
  readonly name?: string
  readonly email?: string
  readonly members?: readonly string[]
  readonly status: number
}

const PATH = /\/directories\/[^/]+\/(users|groups)(?:\/([^/?]+))?(?:\?|$)/

type Wanted = Omit<Write, 'at' | 'since' | 'outside' | 'status'>
type Request = Pick<ProxiedRequest, 'method' | 'url' | 'body'>

/** What the request asks the service to write: several entries for a list, none for a read. */
export function writesOf(request: Request): readonly Wanted[] {
  return partsOf(request.body).flatMap((body) => writeOf({ ...request, body }) ?? [])
}

/** A form with one entry for each entry of a list; another body is one part. Each entry begins with its id. */
export function partsOf(body: string): readonly string[] {
  return body.split(/&(?=(?:users|groups)(?:%5B%5D|\[\])(?:%5B|\[)external_id)/)
}

function writeOf(request: Request): Wanted | undefined {
  const { method, url, body } = request
  const match = PATH.exec(url)
  if (method === 'GET' || match === null) return undefined
  const kind = match[1] === 'users' ? 'user' : 'group'
  const form = new URLSearchParams(body)
  const field = (name: string) => form.get(method === 'POST' ? `${kind}s[][${name}]` : name) ?? undefined
  const id = method === 'POST' ? field('external_id') : decodeURIComponent(match[2] ?? '')
  const [name, email] = [field('name'), field('email')]
  const members = form.getAll(method === 'POST' ? 'groups[][external_member_ids][]' : 'external_member_ids[]')
  return {
    op: method === 'POST' ? 'create' : method === 'DELETE' ? 'delete' : 'update',
    kind,
    id: id ?? '',
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    ...(members.length > 0 && { members: members.filter((member) => member !== '').toSorted() }),
  }
}

/** Whether this is the first page of the list of users, with which a read of the directory begins. */
export function beginsList({ method, url }: Pick<ProxiedRequest, 'method' | 'url'>): boolean {
  return (
    method === 'GET' &&
    /\/users\?/.test(url) &&
    new URL(url, 'http://service').searchParams.get('page') === '1'
  )
}

export function isDone({ status }: Write): boolean {
  return status >= 200 && status < 300
}
