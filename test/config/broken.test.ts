import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readGateway } from '../../src/config/gateway.ts'
import { type Mistake, problemsIn, problemText } from '../../src/config/problem.ts'
import { PROTOCOLS } from '../support/config-folder.ts'

const VALID = `redis: { url: "redis://:canary@127.0.0.1/0", stop_at: 0.5 }
time_zone: Europe/Berlin
listeners:
  - { transport: tcp, port: 5027, protocol: teltonika }
  - &a { transport: http, port: 5055, protocol: osmand, host: 127.0.0.1 }
companies:
  - company_id: 7
    apikey: >
      canary
    name: "a \${b}"
admin: { tokens: [canary, { token: canary2, role: read }] }
log: !!map { level: info }
`

/** A valid gateway.yaml with a few random insertions and deletions. */
const broken = fc
  .array(
    fc.record({
      at: fc.nat(VALID.length),
      drop: fc.nat(12),
      insert: fc.string({
        unit: fc.constantFrom(...Array.from('{}[]:,-&*!|>"\'%@`#?\n \t\0a0~\ud800'), '<<: *a\n', '--- ', '${env:'),
        maxLength: 4,
      }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((edits) =>
    edits.reduce((text, { at, drop, insert }) => text.slice(0, at) + insert + text.slice(at + drop), VALID),
  )

function linesOf(text: string, mistakes: readonly Mistake[]): string[] {
  return problemsIn({ name: 'gateway.yaml', file: 'gateway.yaml', text }, mistakes).map(problemText)
}

describe('a broken gateway.yaml', () => {
  it('a broken gateway.yaml gives either a configuration or mistakes with their lines, never an exception', () => {
    fc.assert(
      fc.property(fc.oneof(broken, fc.string({ unit: 'binary' })), (text) => {
        const { config, mistakes } = readGateway(text, PROTOCOLS)
        const isWrong = mistakes.some(({ severity = 'mistake' }) => severity === 'mistake')
        expect(config === undefined).toBe(isWrong)
        for (const line of linesOf(text, mistakes)) expect(line).toMatch(/^gateway\.yaml:\d+:\d+ .*[a-z]/)
      }),
      { numRuns: 150 },
    )
  })
})
