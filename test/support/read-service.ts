/**
 * Reads a directory straight from the API with nothing but fetch, page by page, following what the description says.
 * Uses nothing of `src/`: it is the independent eye of the end-to-end tests.
 */
export interface SeenDirectory {
  /** external_id → user; an id that is there twice is listed in `duplicates`. */
  readonly users: ReadonlyMap<string, { name: string | null; email: string | null }>
  readonly groups: ReadonlyMap<string, { name: string; members: readonly string[] }>
  readonly duplicates: readonly string[]
}

export interface ReadServiceOptions {
  readonly baseUrl: string
  readonly token: string
  readonly organizationId: number
  readonly directoryId: number
}

export async function readService(options: ReadServiceOptions): Promise<SeenDirectory> {
  const users = new Map<string, { name: string | null; email: string | null }>()
  const groups = new Map<string, { name: string; members: readonly string[] }>()
  const duplicates: string[] = []
  for (const user of await readAll(options, 'users')) {
    if (users.has(user.external_id)) duplicates.push(user.external_id)
    users.set(user.external_id, { name: user.name, email: user.email })
  }
  for (const group of await readAll(options, 'groups')) {
    if (groups.has(group.external_id)) duplicates.push(group.external_id)
    groups.set(group.external_id, { name: group.name, members: group.external_member_ids.toSorted() })
  }
  return { users, groups, duplicates }
}

// The answer as it is: whoever looks at it says what it should be.
async function readAll(options: ReadServiceOptions, list: 'users' | 'groups'): Promise<any[]> {
  const base = `${options.baseUrl}/api/v2/organizations/${options.organizationId}/admin/directories/${options.directoryId}/${list}`
  const all: any[] = []
  for (let page = 1; ; page++) {
    const answer = await fetch(`${base}?page=${page}&per_page=100`, {
      headers: { authorization: `token ${options.token}`, 'x-device-id': 'independent-eye' },
    })
    if (answer.status === 429) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      page--
      continue
    }
    if (answer.status !== 200)
      throw new Error(`${list} page ${page}: ${answer.status} ${await answer.text()}`)
    const items = (await answer.json()) as any[]
    all.push(...items)
    if (all.length >= Number(answer.headers.get('total'))) return all
  }
}

/** Sends one request that changes something, for tests that prepare a directory. */
export async function callService(
  options: ReadServiceOptions,
  method: string,
  path: string,
  form?: Record<string, string>,
): Promise<number> {
  const url = `${options.baseUrl}/api/v2/organizations/${options.organizationId}/admin/directories/${options.directoryId}${path}`
  const answer = await fetch(url, {
    method,
    headers: { authorization: `token ${options.token}`, 'x-device-id': 'independent-eye' },
    ...(form && { body: new URLSearchParams(form) }),
  })
  await answer.arrayBuffer()
  return answer.status
}
