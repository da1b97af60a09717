import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CODES } from '../../src/diagnose/codes.ts'
import { FAULTS } from './faults.ts'
import { TESTED_ELSEWHERE } from './further.ts'

const caused = new Set(FAULTS.flatMap(({ code }) => code ?? []))

it('each finding is caused by a fault, or names the test that covers it', () => {
  const elsewhere = Object.keys(TESTED_ELSEWHERE)
  expect([...caused, ...elsewhere].toSorted()).toEqual(Object.keys(CODES).toSorted())
})

it.each(Object.entries(TESTED_ELSEWHERE))('the finding %s occurs in the test that is named for it', (code, [test]) => {
  expect(readFileSync(`test/${test}.test.ts`, 'utf8')).toContain(code)
})
