import { expect, test } from 'vitest'
import { demandsIn } from '../../../../src/source/ldap/demanded.ts'
import { namesOfAttribute } from '../../../../src/source/ldap/schema.ts'

test('what a class demands is read from its description, as OpenLDAP and 389-ds write it', () => {
  const classes = demandsIn([
    "( 2.5.6.9 NAME 'groupOfNames' DESC 'RFC2256: a group, no MUST here' SUP top STRUCTURAL MUST ( member $ cn ) MAY ( o $ ou ) )",
    "( 2.5.6.9.1 NAME 'looseGroup' SUP top STRUCTURAL MUST cn MAY ( member ) X-ORIGIN 'RFC 4519' )",
    "( 1.2.3 NAME ( 'ownGroup' 'og' ) SUP ( groupOfNames $ other ) AUXILIARY )",
    '( 1.2.4 AUXILIARY )',
  ])
  expect(classes.get('groupofnames')).toEqual({ must: ['member', 'cn'], above: ['top'] })
  expect(classes.get('2.5.6.9')).toEqual(classes.get('groupofnames'))
  expect(classes.get('loosegroup')).toEqual({ must: ['cn'], above: ['top'] })
  expect(classes.get('og')).toEqual({ must: [], above: ['groupofnames', 'other'] })
  expect(classes.get('1.2.4')).toEqual({ must: [], above: [] })
})

test('an attribute has all the names that the schema gives it', () => {
  const types = [
    "( 2.5.4.31 NAME 'member' DESC 'NAME other' SUP distinguishedName )",
    "( 2.5.4.3 NAME ( 'cn' 'commonName' ) SUP name )",
  ]
  expect([...namesOfAttribute('2.5.4.31', types)]).toEqual(['2.5.4.31', 'member'])
  expect([...namesOfAttribute('CommonName', types)]).toEqual(['commonname', '2.5.4.3', 'cn'])
  expect([...namesOfAttribute('memberUid', types)]).toEqual(['memberuid'])
})
