import { expect, it } from 'vitest'
import { Apikeys } from '../../src/push/apis.ts'

function keysOf7(...keys: string[]) {
  const apikeys = new Apikeys(new Map([['7', keys]]))
  return { apikeys, keys: () => apikeys.of('7') }
}

it('the apikey that the API accepted last is used first', () => {
  const { apikeys, keys } = keysOf7('a', 'b', 'c')
  apikeys.accepted('7', 'c')
  apikeys.accepted('7', 'b')
  expect(keys()).toEqual(['b', 'c', 'a'])
})

it('a replaced apikey does not return when the API accepts it late', () => {
  const { apikeys, keys } = keysOf7('a', 'b')
  apikeys.replace(new Map([['7', ['c', 'd']]]))
  apikeys.accepted('7', 'b')
  expect(keys()).toEqual(['c', 'd'])
})

it('the same apikeys in another order are no change, and the accepted one stays first', () => {
  const { apikeys, keys } = keysOf7('a', 'b')
  apikeys.accepted('7', 'b')
  expect([apikeys.replace(new Map([['7', ['a', 'b']]])), keys()]).toEqual([new Set(), ['b', 'a']])
})

it('another apikey is a change, even if it is repeated', () => {
  const { apikeys, keys } = keysOf7('a', 'b')
  expect([apikeys.replace(new Map([['7', ['a', 'a']]])), keys()]).toEqual([new Set(['7']), ['a', 'a']])
})

it('an unconfigured company has no apikey', () => {
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

it('removing a company is a change of its apikeys, and lists read before stay unchanged', () => {
  const { apikeys, keys } = keysOf7('a', 'b')
  const read = keys()
  apikeys.accepted('7', 'b')
  expect([apikeys.replace(new Map()), keys(), read]).toEqual([new Set(['7']), [], ['a', 'b']])
})
