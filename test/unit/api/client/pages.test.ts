import { expect, test } from 'vitest'
import { isApiError } from '../../../../src/api/client/api-error.ts'
import { eachItem, type ListPage, readAllPages } from '../../../../src/api/client/pages.ts'
import { clientOf, rejection, user } from './fixtures.ts'
import { DESTINATION, idsOf, type Item, key, simulate, testMovingList } from './pages.ts'
import { startScriptedServer } from './scripted-server.ts'

test.each([0, 1, 99, 100, 101, 200, 1000, 1001])('%i items at rest are read in order', async (count) => {
  const directory = simulate(count, 100)
  const result = await readAllPages(directory.list, { key, concurrency: 4 })
  expect(result).toMatchObject({ moved: false, total: count, duplicates: [] })
  expect(idsOf(result.items)).toEqual(directory.ids)
  const pages = Math.max(1, Math.ceil(count / 100))
  expect(directory.calls).toHaveLength(pages === 1 ? 1 : pages + 2)
  expect(directory.highestAtOnce).toBeLessThanOrEqual(4)
})

test('the page size is what the answer says, not what was asked for', async () => {
  const directory = simulate(95, 20)
  const result = await readAllPages(directory.list, { key, concurrency: 3 })
  expect(idsOf(result.items)).toEqual(directory.ids)
  expect(Math.max(...directory.calls)).toBe(5)
})

test('without headers the list is read up to an empty page, and backwards', async () => {
  const directory = simulate(45, 20, { headers: false })
  const result = await readAllPages(directory.list, { key, concurrency: 4 })
  expect(result).toMatchObject({ moved: false, total: undefined })
  expect(idsOf(result.items)).toEqual(directory.ids)
  expect(directory.calls).toEqual([1, 2, 3, 4, 3, 2, 1])
})

test('a page size smaller than the page is not believed', async () => {
  const directory = simulate(45, 20)
  const list: ListPage<Item> = async (options) => ({ ...(await directory.list(options)), perPage: 3 })
  const reading = readAllPages(list, { key, concurrency: 4 })
  await expect(reading).resolves.toMatchObject({ moved: false })
  expect(idsOf((await reading).items)).toEqual(directory.ids)
  expect(directory.calls.length).toBeLessThan(15)
})

const onPage = (wrong: number, lie: Partial<Awaited<ReturnType<ListPage<Item>>>>) => (page: number) =>
  page === wrong ? lie : {}

test.each<[string, (page: number) => object, string]>([
  ['a total far above what is there', () => ({ total: 1_000_000 }), 'page 1 says 1000000, and 45 were found'],
  ['a total beyond all measure', () => ({ total: 999_999_999_999, perPage: 1 }), 'page 1 says 999999999999'],
  ['a total of nothing', () => ({ total: 0 }), 'page 1 says 0, and 45 were found'],
  [
    'a page in the middle that says that there is nothing',
    onPage(2, { total: 0, items: [] }),
    'page 1 says 45, page 2 says 0, and 25 were found',
  ],
  [
    'a last page that says that there is nothing',
    onPage(3, { total: 0, items: [] }),
    'page 1 says 45, page 3 says 0, and 40 were found',
  ],
  [
    'pages behind the first that are empty and have no headers',
    (page) => (page === 1 ? {} : { total: undefined, perPage: undefined, items: [] }),
    'page 1 says 45, page 2 says nothing, and 20 were found',
  ],
  [
    'a total that differs on one page',
    onPage(2, { total: 46 }),
    'page 1 says 45, page 2 says 46, and 45 were found',
  ],
  [
    'an entry fewer than the total',
    (page) => (page === 2 ? { items: [{ id: 21 }] } : {}),
    'page 1 says 45, and 26',
  ],
])('%s is an error, not a shorter list', async (_, lie, said) => {
  const directory = simulate(45, 20)
  const list: ListPage<Item> = async (options) => ({
    ...(await directory.list(options)),
    ...lie(options.page),
  })
  const error = await rejection(readAllPages(list, { key, concurrency: 4 }))
  expect(isApiError(error, 'unexpected-answer')).toBe(true)
  expect((error as Error).message).toContain(said)
  expect(directory.calls.length).toBeLessThan(20)
})

test('a list that grows by one entry in each of two passes is read once more, and is no contradiction', async () => {
  const directory = simulate(22, 3, {
    between: (s, call) => {
      if (call === 2 || call === 10) s.ids.push(s.ids.length + 1)
    },
  })
  const { items, moved } = await readAllPages(directory.list, { key, concurrency: 1 })
  expect(idsOf(items)).toEqual(directory.ids)
  expect(moved).toBe(false)
})

test('a removal that an addition hides from every count is noticed', async () => {
  const directory = simulate(60, 20, {
    between(s, call) {
      if (call !== 2) return
      s.ids.shift()
      s.ids.push(61)
    },
  })
  const result = await readAllPages(directory.list, { key, concurrency: 1 })
  expect(idsOf(result.items)).toEqual(directory.ids)
  expect(result.moved).toBe(false)
  // 1, 3, 2, both ends again; then backwards, at rest.
  expect(directory.calls).toEqual([1, 3, 2, 1, 3, 3, 2, 1])
})

test('a directory that never rests is reported as moved', async () => {
  const directory = simulate(60, 20, { between: (s) => s.ids.push((s.ids.at(-1) ?? 0) + 1) })
  const result = await readAllPages(directory.list, { key, concurrency: 4 })
  expect(result.moved).toBe(true)
  expect(idsOf(result.items).slice(0, 60)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
})

test('what only the first reading saw is kept where the second one moved as well', async () => {
  // Removed before the second reading comes to it, while new items keep that reading moving.
  const directory = simulate(60, 20, {
    between(s) {
      s.ids.push((s.ids.at(-1) ?? 0) + 1)
      if (s.calls.length === 6) s.ids.splice(s.ids.indexOf(7), 1)
    },
  })
  const result = await readAllPages(directory.list, { key, concurrency: 4 })
  expect(result.moved).toBe(true)
  expect(directory.ids).not.toContain(7)
  expect(idsOf(result.items)).toContain(7)
})

test('two entries with one key are listed once, and named', async () => {
  const directory = simulate(30, 20)
  directory.ids[25] = 3
  const result = await readAllPages(directory.list, { key, concurrency: 4, isSame: () => false })
  expect(result.moved).toBe(true)
  expect(result.duplicates).toEqual([{ id: 3 }])
  expect(new Set(idsOf(result.items)).size).toBe(result.items.length)
})

test.each([true, false])(
  'entries that two pages hold are an error, not a shorter list (headers: %j)',
  async (headers) => {
    const directory = simulate(250, 100, { headers })
    directory.ids.splice(200, 50, ...directory.ids.slice(150, 200))
    const error = await rejection(readAllPages(directory.list, { key, concurrency: 4 }))
    expect(isApiError(error, 'unexpected-answer')).toBe(true)
    expect((error as Error).message).toContain(
      'page 3 repeats entries of page 2, and only 200 of the 250 entries listed are distinct',
    )
    expect(directory.calls.length).toBeLessThan(20)
  },
)

test('a page that repeats another one only once is read again, and nothing is missing', async () => {
  const directory = simulate(250, 100)
  const whole = [...directory.ids]
  const repeating = whole.with(210, 110)
  const list: ListPage<Item> = (options) => {
    directory.ids = directory.calls.length < 4 ? repeating : whole
    return directory.list(options)
  }
  const result = await readAllPages(list, { key, concurrency: 4 })
  expect(idsOf(result.items)).toEqual(whole)
  expect(result).toMatchObject({ moved: false, duplicates: [] })
})

test.each([true, false])(
  'a service that ignores the page number is an error (headers: %j)',
  async (headers) => {
    const directory = simulate(40, 20, { headers })
    const list: ListPage<Item> = (options) => directory.list({ ...options, page: 1 })
    const error = await rejection(readAllPages(list, { key, concurrency: 4 }))
    expect(isApiError(error, 'unexpected-answer')).toBe(true)
    expect((error as Error).message).toContain('ignore the page number')
    expect(directory.calls.length).toBeLessThan(5)
  },
)

test.each([true, false])(
  'a list without an end is refused before it fills the memory (total on page 1: %j)',
  async (hasTotal) => {
    let pages = 0
    const list: ListPage<Item> = async () => {
      const first = pages * 400_000
      pages += 1
      const items = Array.from({ length: 400_000 }, (_, index) => ({ id: first + index }))
      const total = hasTotal && pages === 1 ? 1 : undefined
      return { items, total, perPage: undefined, destination: DESTINATION }
    }
    const error = await rejection(readAllPages(list, { key, concurrency: 4 }))
    expect(isApiError(error, 'unexpected-answer')).toBe(true)
    expect((error as Error).message).toContain(
      'the list has no total that can be believed and does not end after 2,000,000 entries',
    )
    expect(pages).toBe(6)
  },
)

test('one page that fails fails the reading, and no further page is asked for', async () => {
  const directory = simulate(2000, 20)
  const list: ListPage<Item> = async (options) => {
    const page = await directory.list(options)
    if (options.page === 10) throw new Error('page 10')
    return page
  }
  expect(await rejection(readAllPages(list, { key, concurrency: 4 }))).toEqual(new Error('page 10'))
  expect(directory.calls.length).toBeLessThan(20)
})

testMovingList(400)

test('items come one after the other, each once', async () => {
  const directory = simulate(45, 20)
  const read: number[] = []
  for await (const { id } of eachItem(directory.list, { key })) read.push(id)
  expect(read).toEqual(directory.ids)
  expect(directory.calls).toEqual([1, 2, 3])
})

test('a list that grows in front by whole pages is read to the end of what was there, each item once', async () => {
  const directory = simulate(45, 20, {
    between: (s, call) => {
      if (call === 2 || call === 3) s.ids.unshift(...Array.from({ length: 20 }, (_, i) => call * 1000 + i))
    },
  })
  const before = [...directory.ids]
  const read = await Array.fromAsync(eachItem(directory.list, { key }), ({ id }) => id)
  expect(read).toEqual(before)
  expect(directory.calls).toEqual([1, 2, 3, 4, 5])
})

test('a service that ignores the page number is refused, item by item too', async () => {
  const directory = simulate(45, 20)
  const stuck: ListPage<Item> = (options) => directory.list({ ...options, page: 1 })
  await expect(Array.fromAsync(eachItem(stuck, { key }))).rejects.toThrow('seems to ignore the page number')
})

test('one who stops looking asks for no further page', async () => {
  const directory = simulate(45, 20)
  for await (const { id } of eachItem(directory.list, { key })) if (id === 5) break
  expect(directory.calls).toEqual([1])
})

test('pages come over the wire, by number, and a foreign link is never followed', async () => {
  const all = Array.from({ length: 250 }, (_, index) => user(index + 1))
  await using server = await startScriptedServer((request) => {
    const query = new URL(request.url, 'http://x').searchParams
    const page = Number(query.get('page'))
    const headers = { total: '250', 'per-page': '100', link: '<http://evil.example/next>; rel="next"' }
    return { status: 200, json: all.slice((page - 1) * 100, page * 100), headers }
  })
  await using client = clientOf(server.baseUrl)
  const { items, moved } = await readAllPages((options) => client.listUsers({ directory_id: 7 }, options), {
    key: ({ id }) => id,
    concurrency: 4,
  })
  expect(items).toEqual(all)
  expect(moved).toBe(false)
  expect(new Set(server.seen.map((request) => request.url.replace(/.*\?/, '')))).toEqual(
    new Set(['page=1&per_page=100', 'page=2&per_page=100', 'page=3&per_page=100']),
  )
})
