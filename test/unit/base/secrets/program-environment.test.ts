import { expect, test } from 'vitest'
import { programEnvironment } from '../../../../src/base/secrets/program-environment.ts'

const ENV = { PATH: '/bin', HOME: '/root', TZ: 'UTC', DB_PASSWORD: 'hunter2', DIRSYNCD_TOKEN: 'secret' }

test('a program gets what every program needs and what is named, and nothing else', () => {
  expect(programEnvironment([], ENV, 'x')()).toEqual({ PATH: '/bin', HOME: '/root', TZ: 'UTC' })
  const named = programEnvironment(['DB_PASSWORD', 'PATH'], ENV, 'x')
  expect(named()).toEqual({ PATH: '/bin', HOME: '/root', TZ: 'UTC', DB_PASSWORD: 'hunter2' })
})

test('a variable that is named and not set is an error when the program is to run', () => {
  const environment = programEnvironment(['MISSING'], ENV, 'syncs[0].source.env')
  expect(environment).toThrow(
    'The program of syncs[0].source.env cannot be run: the environment variable MISSING',
  )
})
