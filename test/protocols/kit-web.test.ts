import { expect, it } from 'vitest'
import {
  knots,
  numericMember,
  parametersOf,
  rmcFix,
  type Session,
  textMember,
  utcYmd,
  xmlElements,
  xmlText,
} from '../../protocols/kit/index.ts'
import { newSession } from '../support/rough.ts'

const strict = (): Session => Object.assign(newSession(), { lenient: false })

it('parametersOf reads the query and the form of a request', () => {
  const parameters = parametersOf({ uri: '/p?a=1', body: Buffer.from('b=2%20x') })
  expect([...parameters].filter(([name]) => name !== '')).toEqual([
    ['a', '1'],
    ['b', '2 x'],
  ])
})

it('parametersOf refuses more than 1,000 parameters', () => {
  expect(parametersOf({ uri: '/p', body: Buffer.from(`i=1${'&0'.repeat(900)}`) }).get('i')).toBe('1')
  const tooMany = { uri: '/p', body: Buffer.from(`i=1${'&0'.repeat(32_000)}`) }
  expect(() => parametersOf(tooMany)).toThrow('more than 1000 parameters')
})

it('numericMember reads a number or its text, and textMember reads the text of either', () => {
  const body = { a: 1, b: '2.5', c: '', d: 'null', e: null, f: 'x', g: {} }
  expect(['a', 'b', 'c', 'd', 'e', 'h'].map((name) => numericMember(body, name))).toEqual([
    1,
    2.5,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  expect(() => numericMember(body, 'f')).toThrow('"x" is not a number')
  expect(() => numericMember(body, 'g')).toThrow('g is a object')
  expect(['a', 'b', 'c', 'g'].map((name) => textMember(body, name))).toEqual(['1', '2.5', undefined, undefined])
})

it('xmlElements and xmlText match whole element names', () => {
  const xml = '<list><item a="1">x</item><items>y</items><item>\n z </item><item>'
  expect(xmlElements(xml, 'item')).toEqual(['x', '\n z '])
  expect([xmlText(xml, 'items'), xmlText('<a> b </a>', 'a'), xmlText(xml, 'none')]).toEqual(['y', 'b', ''])
})

it('rmcFix reads a fix with a fraction of a second', () => {
  expect(rmcFix('$GPRMC,101530.25,A,5231.5000,S,01324.6000,W,12.5,360.0,010524,,,A', strict())).toEqual({
    time: Date.UTC(2024, 4, 1, 10, 15, 30, 250),
    latitude: expect.closeTo(-52.525, 9),
    longitude: expect.closeTo(-13.41, 9),
    valid: true,
    speed: knots(12.5),
    heading: 0,
  })
})

it('rmcFix accepts hemispheres in small letters, and refuses a place without a hemisphere', () => {
  const { latitude, longitude } = rmcFix('$GPRMC,101530,A,5231.5,s,01324.6,w,,,010524,,', strict()) ?? {}
  expect([latitude, longitude]).toEqual([expect.closeTo(-52.525, 9), expect.closeTo(-13.41, 9)])
  expect(() => rmcFix('$GPRMC,101530,A,5231.5,,01324.6,W,,,010524,,', strict())).toThrow('is no hemisphere')
})

it('rmcFix reads no fix without a place, and refuses a wrong checksum and another sentence', () => {
  expect(rmcFix('$GPRMC,101530,V,,,,,,,010524,,', strict())).toBeUndefined()
  expect(() => rmcFix('$GPRMC,101530,V,,,,,,,010524,,*00', strict())).toThrow('the checksum does not match')
  expect(() => rmcFix('$GPGGA,101530', strict())).toThrow('it is no RMC sentence')
})

it('utcYmd accepts years of two and four digits', () => {
  expect([utcYmd('20240501101530'), utcYmd('240501101530')]).toEqual(Array(2).fill(Date.UTC(2024, 4, 1, 10, 15, 30)))
})
