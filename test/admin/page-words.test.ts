import { expect, it } from 'vitest'
import { de } from '../../src/page/words/de.ts'
import { en } from '../../src/page/words/en.ts'

it('every text is there in each language, and none is left in English', () => {
  expect(keysOf(de)).toEqual(keysOf(en))
  const same = textsOf(en).filter(
    ([key, text]) => text.length > 12 && textsOf(de).some(([other, own]) => other === key && own === text),
  )
  expect(same).toEqual([])
})

function keysOf(words: object, path = ''): string[] {
  return Object.entries(words).flatMap(([key, value]) =>
    typeof value === 'object' ? keysOf(value as object, `${path}${key}.`) : [path + key],
  )
}

function textsOf(words: object, path = ''): [key: string, text: string][] {
  return Object.entries(words).flatMap(([key, value]) =>
    typeof value === 'object'
      ? textsOf(value as object, `${path}${key}.`)
      : typeof value === 'string'
        ? [[path + key, value]]
        : [],
  )
}
