import type { Pool } from 'undici'

export type Item = { readonly external_id: string }

/** Reads all pages of a list with undici, `concurrency` at once. Resolves with external_id → item. */
export async function readList(
  http: Pool,
  headers: Readonly<Record<string, string>>,
  list: string,
  concurrency: number,
): Promise<Map<string, Item>> {
  const items = new Map<string, Item>()
  const read = async (page: number): Promise<number> => {
    const path = `${list}?page=${page}&per_page=100`
    const answer = await http.request({ path, method: 'GET', headers })
    for (const item of (await answer.body.json()) as Item[]) items.set(item.external_id, item)
    return Number(answer.headers['total'])
  }
  const pages = Math.ceil((await read(1)) / 100)
  let next = 2
  const reader = async () => {
    while (next <= pages) await read(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, reader))
  return items
}
