import { expect, it } from 'vitest'
import { Apikeys } from '../../src/push/apis.ts'

function keysOf7(...keys: string[]) {
  const apikeys = new Apikeys(new Map([['7', keys]]))
  return { apikeys, keys: () => apikeys.of('7') }
}

it('the key that the API accepted last is the first', () => {
  const { apikeys, keys } = keysOf7('a', 'b', 'c')
  apikeys.accepted('7', 'c')
  apikeys.accepted('7', 'b')
  expect(keys()).toEqual(['b', 'c', 'a'])
})

it('a key that was replaced while the API was asked does not come back once it is accepted', () => {
  const { apikeys, keys } = keysOf7('a', 'b')
  apikeys.replace(new Map([['7', ['c', 'd']]]))
  apikeys.accepted('7', 'b')
  expect(keys()).toEqual(['c', 'd'])
})

it('the same keys in another order are no change, and the one that was accepted stays the first', () => {
  const { apikeys, keys } = keysOf7('a', 'b')
  apikeys.accepted('7', 'b')
  expect([apikeys.replace(new Map([['7', ['a', 'b']]])), keys()]).toEqual([new Set(), ['b', 'a']])
})

it('a key in place of another one is a change, also beside a key that is there twice', () => {
  const { apikeys, keys } = keysOf7('a', 'b')
  expect([apikeys.replace(new Map([['7', ['a', 'a']]])), keys()]).toEqual([new Set(['7']), ['a', 'a']])
})

it('a company that is not configured has no key', () => {
  const { apikeys } = keysOf7('a')
  apikeys.accepted('8', 'a')
  expect([
    apikeys.of('8'),
    apikeys.replace(
      new Map([
        ['7', ['a']],
        ['8', []],
      ]),
    ),
  ]).toEqual([[], new Set()])
})

it('a company that is not configured any more has changed, and keys that somebody has read stay as they were', () => {
  const { apikeys, keys } = keysOf7('a', 'b')
  const read = keys()
  apikeys.accepted('7', 'b')
  expect([apikeys.replace(new Map()), keys(), read]).toEqual([new Set(['7']), [], ['a', 'b']])
})
