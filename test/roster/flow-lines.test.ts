import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { takeFlowLines } from '../../src/config/flow-lines.ts'
import type { Entry } from '../../src/config/node.ts'
import { parseYaml } from '../../src/config/yaml.ts'

async function taken(text: string): Promise<{ entries: Entry[]; rest: string }> {
  const entries: Entry[] = []
  const rest = await takeFlowLines(text, (entry) => entries.push(entry))
  return { entries, rest }
}

/** Reads a text as YAML; undefined if it is not a mapping. */
function parsed(text: string): readonly Entry[] | undefined {
  const { root, mistakes } = parseYaml(text, { mayRepeat: true })
  if (mistakes.length > 0 || (root && root.kind !== 'mapping')) return undefined
  return root?.entries ?? []
}

/** Reads plain lines directly and the rest as YAML, like devices.yaml. */
async function combined(text: string): Promise<readonly Entry[] | undefined> {
  const { entries, rest } = await taken(text)
  const others = parsed(rest)
  return others && [...entries, ...others].toSorted((a, b) => a.keyAt - b.keyAt)
}

it('takeFlowLines reads plain lines, and leaves the rest in its place', async () => {
  const text = '# fleet\n"1": { name: Van 12, company_id: 7 } # new\n2: { company_id: 8 }\n3:\n  company_id: 9\n'
  const { entries, rest } = await taken(text)
  expect(entries.map(({ key }) => key)).toEqual(['1', '2'])
  expect(rest.length).toBe(text.length)
  expect(rest.trimEnd()).toMatch(/^# fleet\n# +\n3:\n {2}company_id: 9$/)
})

it.each([
  ['a reference', '1: { secret: "${env:A}" }'],
  ['an escape', '1: { name: "a\\tb" }'],
  ['null', '1: { name: null }'],
  ['a nested mapping', '1: { settings: { a: 1 } }'],
  ['an anchor', '1: { name: &a b }'],
  ['a line that is continued', '1: { company_id: 7 }\n  name: x'],
  ['an unfinished line', '1: { company_id: 7\n}'],
  ['another document', '1: { company_id: 7 }\n---\n2: { company_id: 7 }'],
  ['a list', '- 1: { company_id: 7 }'],
])('takeFlowLines leaves %s to the parser', async (_, text) =>
  expect(await taken(text)).toEqual({ entries: [], rest: text }),
)

it('takeFlowLines reads the same as the parser, in any mixture of lines', async () => {
  const line = fc.constantFrom(
    '"1": { name: Van 12, company_id: 7 }',
    '2: { company_id: 007, courier_id: 0x1F } # comment',
    '3: { name: \'it is\', secret: "a}b, c: d" }',
    '4:  {  company_id:   7  ,  name: a  b  }  ',
    '1e5: { company_id: 7 }\r',
    '5:',
    '  company_id: 7',
    '  name: "a',
    '  b"',
    '6: { company_id: 7,',
    '  name: x }',
    '}',
    '7: {}',
    '8: { name: ~ }',
    '9: {company_id: 7}',
    '10: { name: -x, model: a:b, secret: "" }',
    '11: |',
    '  { text }',
    '12: [a,',
    ']',
    'foo',
    '"13": "a',
    'b"',
    "14: 'it",
    '15: { name: "a',
    '# comment',
    '  # indented comment',
    '',
    '? 12',
    ': { company_id: 7 }',
    '"x": *a',
    '"a": &a { company_id: 7 }',
    '- 1',
    '%YAML 1.2',
    '---',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), async (lines) => {
      const text = `${lines.join('\n')}\n`
      expect(await combined(text)).toEqual(parsed(text))
    }),
    { numRuns: 800 },
  )
})
