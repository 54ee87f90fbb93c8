import fc from 'fast-check'
import { expect, test } from 'vitest'
import { offsetOf, pageHeaders, readPageRequest } from '../../../../src/service/http/paging.ts'

const whole = fc.integer({ min: 1, max: 1000 })

test('a link has a relation exactly when the description says so', () => {
  fc.assert(
    fc.property(
      whole,
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 0, max: 10_000 }),
      (page, perPage, total) => {
        const { link } = pageHeaders('/x', { page, perPage }, total) as { link?: string }
        const last = Math.ceil(total / perPage)
        const relations = [...(link ?? '').matchAll(/rel="(\w+)"/g)].map((match) => match[1])
        const many = last > 1
        const wanted = [
          ...(many && page > 1 ? ['first', 'prev'] : []),
          ...(many && page < last ? ['next'] : []),
          ...(many && page !== last ? ['last'] : []),
        ]
        expect(relations).toEqual(wanted)
      },
    ),
  )
})

test('following next from the first page sees every index once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 2000 }), (perPage, total) => {
      let query: string | undefined = `?per_page=${perPage}`
      let seen = 0
      while (query !== undefined) {
        const request = readPageRequest(query.slice(1))
        expect(offsetOf(request)).toBe(seen)
        seen += Math.min(perPage, total - seen)
        const { link = '' } = pageHeaders(`/x${query}`, request, total) as { link?: string }
        query = /<\/x(\?[^>]+)>; rel="next"/.exec(link)?.[1]
      }
      expect(seen).toBe(total)
    }),
  )
})

test('any query is a page within bounds or a problem', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (page, perPage) => {
      try {
        const request = readPageRequest(new URLSearchParams({ page, per_page: perPage }).toString())
        expect(request.page).toBeGreaterThanOrEqual(1)
        expect(request.perPage).toBeGreaterThanOrEqual(1)
        expect(request.perPage).toBeLessThanOrEqual(100)
      } catch (error) {
        expect(error).toMatchObject({ name: 'Problem', status: 400 })
      }
    }),
  )
})
