/**
 * The content of a directory. To check the product independently, this file uses nothing from `src/`: it reads the
 * pages of the API with fetch.
 */
export interface DirectoryContent {
  /** external_id → user; `duplicates` lists ids that occur twice. */
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

export async function readService(options: ReadServiceOptions): Promise<DirectoryContent> {
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

// `any`, because the answers are unchecked; the tests compare them with what they expect.
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

/** Sends one write request; tests prepare a directory with it. Resolves with the HTTP status. */
export async function callService(
  options: ReadServiceOptions,
  method: string,
  path: string,
  form?: Record<string, string> | URLSearchParams,
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
