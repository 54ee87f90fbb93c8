import { describe, expect, test } from 'vitest'
import type { EventFilters } from '../../../../src/api/contract/event.ts'
import { type EventSearch, readEventFilters } from '../../../../src/service/events/event-filters.ts'
import { Problem } from '../../../../src/service/http/problem.ts'

function refusal(filters: EventFilters): { status: number; fields: string[] } {
  try {
    readEventFilters(filters)
  } catch (error) {
    if (error instanceof Problem)
      return { status: error.status, fields: error.errors.map((each) => each.field) }
    throw error
  }
  expect.unreachable('the filters were accepted')
}

describe('what is not given', () => {
  test.each([
    ['no filters', undefined],
    ['an empty list of filters', {}],
    [
      'empty filters',
      { type: '', time_from: '', time_to: ' ', ip_from: '', ip_to: '', group_id: '', contact_id: '' },
    ],
  ])('%s search for everything', (_name, filters) => {
    expect(readEventFilters(filters)).toEqual({})
  })
})

describe('types', () => {
  test.each([
    ['update_policy', ['update_policy']],
    ['a,b', ['a', 'b']],
    [' a , b,,a,', ['a', 'b']],
  ])('"%s" are %j', (type, types) => {
    expect(readEventFilters({ type })).toEqual({ types })
  })

  test.each([',', ' , ,', 'a\0b'])('%j are refused', (type) => {
    expect(refusal({ type })).toEqual({ status: 400, fields: ['filters[type]'] })
  })
})

describe('times', () => {
  test.each([
    ['2026-01-31T08:15:30.250+00:00', '2026-01-31T08:15:30.250Z'],
    ['2026-01-31T08:15:30.250 00:00', '2026-01-31T08:15:30.250Z'],
    ['2026-01-31T08:15:30Z', '2026-01-31T08:15:30.000Z'],
    ['2026-01-31T08:15', '2026-01-31T08:15:00.000Z'],
    ['2026-01-31T08:15:30,057', '2026-01-31T08:15:30.057Z'],
    ['2026-01-31T08:15:30+02:00', '2026-01-31T06:15:30.000Z'],
    ['2026-01-31T08:15:30 0200', '2026-01-31T06:15:30.000Z'],
    ['2026-01-31T23:15:30-0530', '2026-02-01T04:45:30.000Z'],
    ['2026-01-31T08:15+02', '2026-01-31T06:15:00.000Z'],
    ['2024-02-29T00:00:00.057Z', '2024-02-29T00:00:00.057Z'],
  ])('%s is the instant %s, as either bound', (text, instant) => {
    expect(readEventFilters({ time_from: text, time_to: text })).toEqual({
      from: new Date(instant),
      to: new Date(instant),
    })
  })

  test('a date stands for its whole day in UTC', () => {
    expect(readEventFilters({ time_from: '2026-01-31', time_to: '2026-01-31' })).toEqual({
      from: new Date('2026-01-31T00:00:00.000Z'),
      to: new Date('2026-01-31T23:59:59.999Z'),
    })
  })

  test('what is finer than a millisecond narrows the range', () => {
    const search = readEventFilters({
      time_from: '2026-01-31T08:00:00.1234Z',
      time_to: '2026-01-31T09:00:00.1239Z',
    })
    expect(search).toEqual({
      from: new Date('2026-01-31T08:00:00.124Z'),
      to: new Date('2026-01-31T09:00:00.123Z'),
    })
    expect(readEventFilters({ time_from: '2026-01-31T08:00:00.123000Z' })).toEqual({
      from: new Date('2026-01-31T08:00:00.123Z'),
    })
  })

  test.each([
    'yesterday',
    '2026',
    '2026-01',
    '2026-02-30',
    '2025-02-29',
    '2026-01-31T24:00',
    '2026-01-31T08:15:60Z',
    '2026-01-31T08:15:30.1234567890Z',
    '2026-01-31T08:15:30+24:00',
    '2026-01-31T08:15:30 UTC',
    '2026-01-31T',
    '+12026-01-31',
    '２０２６-01-31',
  ])('%s is refused', (text) => {
    expect(refusal({ time_from: text, time_to: text })).toEqual({
      status: 400,
      fields: ['filters[time_from]', 'filters[time_to]'],
    })
  })

  test('a range that ends before it begins is refused with both', () => {
    expect(refusal({ time_from: '2026-02-01', time_to: '2026-01-31' })).toEqual({
      status: 422,
      fields: ['filters[time_from]', 'filters[time_to]'],
    })
  })
})

describe('addresses', () => {
  const LAST_IPV6 = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'

  test.each<[EventFilters, EventSearch['ips']]>([
    [
      { ip_from: '192.0.2.1', ip_to: '192.0.2.9' },
      { from: '192.0.2.1', to: '192.0.2.9' },
    ],
    [
      { ip_from: '9.0.0.0', ip_to: '10.0.0.0' },
      { from: '9.0.0.0', to: '10.0.0.0' },
    ],
    [{ ip_to: '::ffff:192.0.2.1' }, { from: '0.0.0.0', to: '192.0.2.1' }],
    [
      { ip_from: '192.0.2.1', ip_to: '192.0.2.1' },
      { from: '192.0.2.1', to: '192.0.2.1' },
    ],
    [{ ip_from: '192.0.2.1' }, { from: '192.0.2.1', to: '255.255.255.255' }],
    [{ ip_to: '192.0.2.1' }, { from: '0.0.0.0', to: '192.0.2.1' }],
    [{ ip_from: '2001:db8::1' }, { from: '2001:db8::1', to: LAST_IPV6 }],
    [{ ip_to: '2001:db8::1' }, { from: '::', to: '2001:db8::1' }],
    [
      { ip_from: '2001:DB8:0:0:0:0:0:1', ip_to: '2001:db8::a' },
      { from: '2001:db8::1', to: '2001:db8::a' },
    ],
    [
      { ip_from: '2001:db8::9', ip_to: '2001:db8::10' },
      { from: '2001:db8::9', to: '2001:db8::10' },
    ],
    [
      { ip_from: '::ffff:192.0.2.1', ip_to: '192.0.2.9' },
      { from: '192.0.2.1', to: '192.0.2.9' },
    ],
    [{ ip_from: '::FFFF:c000:201' }, { from: '192.0.2.1', to: '255.255.255.255' }],
    [{ ip_from: 'fe80::1%eth0' }, { from: 'fe80::1', to: LAST_IPV6 }],
    [
      { ip_from: '::', ip_to: '::1.2.3.4' },
      { from: '::', to: '::102:304' },
    ],
  ])('%j is the range %j', (filters, ips) => {
    expect(readEventFilters(filters)).toEqual({ ips })
  })

  test.each(['localhost', '192.0.2', '192.0.2.256', '192.0.2.0/24', '::g', '[::1]', '0x7f000001'])(
    '%s is refused',
    (text) => {
      expect(refusal({ ip_from: text, ip_to: text })).toEqual({
        status: 400,
        fields: ['filters[ip_from]', 'filters[ip_to]'],
      })
    },
  )

  test.each([
    ['of two families', '192.0.2.1', '2001:db8::1'],
    ['of two families, the other way round', '2001:db8::1', '192.0.2.1'],
    ['that go down', '192.0.2.2', '192.0.2.1'],
    ['that go down, longer than a number', '2001:db8::2', '2001:db8::1'],
    ['that go down, once understood', '::ffff:192.0.2.2', '192.0.2.1'],
  ])('bounds %s are refused with both', (_name, from, to) => {
    expect(refusal({ ip_from: from, ip_to: to })).toEqual({
      status: 422,
      fields: ['filters[ip_from]', 'filters[ip_to]'],
    })
  })
})

describe('ids', () => {
  test('are whole numbers', () => {
    expect(readEventFilters({ group_id: '51', contact_id: '2147483647' })).toEqual({
      groupId: 51,
      contactId: 2_147_483_647,
    })
  })

  test('larger than any search for nothing', () => {
    expect(readEventFilters({ group_id: '2147483648', contact_id: '9'.repeat(400) })).toEqual({
      groupId: 0,
      contactId: 0,
    })
  })

  test.each(['0', '-1', '1.0', '1e3', 'ada', '0x1', '01', '1,2'])('"%s" is refused', (text) => {
    expect(refusal({ group_id: text, contact_id: text })).toEqual({
      status: 400,
      fields: ['filters[group_id]', 'filters[contact_id]'],
    })
  })
})

test('every fault of a request is named at once', () => {
  const filters = {
    type: ',',
    time_from: 'x',
    time_to: 'x',
    ip_from: 'x',
    ip_to: 'x',
    group_id: 'x',
    contact_id: 'x',
  }
  expect(refusal(filters).fields).toHaveLength(7)
  expect(
    refusal({ time_from: '2026-02-01', time_to: '2026-01-31', ip_from: '::2', ip_to: '::1' }).fields,
  ).toHaveLength(4)
})
