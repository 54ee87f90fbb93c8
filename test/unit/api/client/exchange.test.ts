import type { Dispatcher } from 'undici'
import { expect, test, vi } from 'vitest'
import { exchange, ExchangeError } from '../../../../src/api/client/exchange.ts'
import { rejection } from './fixtures.ts'

const WRITE = {
  origin: 'http://127.0.0.1',
  method: 'POST',
  path: '/users',
  headers: {},
  body: 'a=b',
  totalMs: 5000,
} as const

function controller() {
  const abort = vi.fn<(reason: Error) => void>()
  return { abort, controller: { abort } as unknown as Dispatcher.DispatchController }
}

test('a request that undici would send again by itself is an error, and may have been done', async () => {
  const first = controller()
  const second = controller()
  const dispatcher = {
    dispatch(_: unknown, handler: Dispatcher.DispatchHandler) {
      handler.onRequestStart?.(first.controller, undefined)
      handler.onRequestStart?.(second.controller, undefined)
      handler.onResponseStart?.(second.controller, 201, {}, 'Created')
      handler.onResponseEnd?.(second.controller, {})
      return true
    },
  } as unknown as Dispatcher
  const error = await rejection(exchange(dispatcher, WRITE, undefined))
  expect(error).toBeInstanceOf(ExchangeError)
  expect(error).toMatchObject({ sent: true, timedOut: false })
  expect(second.abort).toHaveBeenCalledOnce()
})
